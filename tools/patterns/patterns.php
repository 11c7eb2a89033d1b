<?php
// The argument has the modifiers: "u" reads UTF-8, nothing reads bytes.
$accepts = function (array $case) use ($argv) {
    $pattern = "\x01{$case['pattern']}\x01" . ($argv[1] ?? '');
    if (@preg_match($pattern, '') === false) return preg_last_error_msg();
    return array_map(fn (string $text) => preg_match($pattern, $text) === 1, $case['texts']);
};
echo json_encode(array_map($accepts, json_decode(stream_get_contents(STDIN), true)));
