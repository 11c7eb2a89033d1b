/** A line of a stack trace of Node.js, Java, Python or Go. */
const frame =
  /^\s+at |^\s+File ".*", line \d+|^\s+\S+\.go:\d+|^goroutine \d+ |^[\w./]+(?:\(\*?\w+\)[\w.]*)?\(.*\)$/;

/** Lines that runtimes and build tools print after an error. */
const addition = /^[\])}]+[,;]?$|^Node\.js v\d|^exit status \d+$|^\(Use `node --trace|^npm (?:ERR!|error)/;

/** The line before an error: the carets of Node.js below the source, or the title of a Python traceback. */
const isLeading = (line: string) => /^\s*[~^]+\s*$/.test(line) || line.startsWith('Traceback (most recent');

/**
 * The line that says why a program failed: the error that ended it. If there is none, the last line with the word error, or else the last
 * line.
 */
export function errorLine(lines: readonly string[]): string | undefined {
  const isOwn = (line: string) => !frame.test(line) && !addition.test(line);
  const leading = lines.findLastIndex(isLeading);
  const found =
    lines.findLast((line) => /^(?:panic|fatal error): /.test(line)) ??
    (leading === -1 ? undefined : lines.slice(leading + 1).find((line) => /^\S/.test(line) && isOwn(line))) ??
    lines.findLast((line, i) => isOwn(line) && /^\s+at /.test(lines[i + 1] ?? '')) ??
    lines.findLast((line) => isOwn(line) && /^(?=\S).*(?:error|exception|panic|fatal)/i.test(line)) ??
    // Indented lines may belong to an object that has a property of that name.
    lines.findLast((line) => isOwn(line) && /(?:Error|Exception): /.test(line)) ??
    lines.findLast((line) => isOwn(line) && /^\S/.test(line)) ??
    lines.at(-1);
  const cause = lines.findLast((line) => /^\s+\[cause\]: (?![{[])/.test(line))?.trim();
  const line = found?.trim().replace(/^UnhandledPromiseRejection: .*(?=The promise rejected)| \{$/g, '');
  return cause === undefined || line === cause ? line : `${line} (${cause})`;
}
