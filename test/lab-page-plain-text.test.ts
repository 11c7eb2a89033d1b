import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain } from '../src/lab/page/plain-text.ts';

test('what is hidden in a name is shown as its code, and emoji of several parts stay whole', () => {
  for (const [text, shown] of [
    ['\u200b', '\\u200b'],
    ['Be\u200dlla\ufeff', 'Be\\u200dlla\\ufeff'],
    ['\u00ad\u3164\u{e0041}', '\\u00ad\\u3164\\ue0041'],
    ['\ufe0f\ufe0f', '\\ufe0f\\ufe0f'],
    ['\u200d👩', '\\u200d👩'],
    ['می\u200c\u200cخواهم', 'می\u200c\\u200cخواهم'],
  ] as const)
    assert.equal(plain(text), shown);
  for (const text of ['👩🏽‍💻 ❤️ 👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁷󠁬󠁳󠁿 #️⃣', '☎︎ 葛󠄀', 'नमस्ते', 'می\u200cخواهم', 'ශ්\u200dරී'])
    assert.equal(plain(text), text);
});
