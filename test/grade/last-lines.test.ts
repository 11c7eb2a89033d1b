import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorLine } from '../../src/grade/card/words.ts';
import { Tail } from '../../src/grade/run/program.ts';

const htmlPage = `<!DOCTYPE html>
<html lang="en">
<head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1></body>
</html>
`;

const linesOf = (...texts: string[]) => {
  const tail = new Tail();
  const take = tail.stream(() => {});
  for (const text of texts) take(Buffer.from(text));
  return tail.lines();
};

test('a truncated line shows no part of a secret', () => {
  const key = `pet_${'Ab3'.repeat(12)}`;
  for (const cut of [1, 4, 20, 39]) {
    const long = key + ' seen'.repeat(1_000).slice(0, 4_096 + cut - key.length);
    assert.match(linesOf(long).join('|'), /^…(?: seen)+ s?e?e?n?…$/);
    const many = `${key}${`\n${'x'.repeat(4_000)}`.repeat(17)}`.slice(0, 65_536 + cut);
    assert.match(linesOf('begun ', many, '\nthe end').join('|'), /^…(?:\|x+…)+\|the end$/);
  }
  assert.match(
    linesOf('x'.repeat(65_600), key, `${key.slice(0, 9)}`, `${key.slice(9)} seen`).join('|'),
    /^… seen$/,
  );
});

/** The output of runtimes when an error ends a program, and the line with the reason. */
const endings: [what: string, printed: string, line: string][] = [
  [
    'Node.js',
    `file:///app/client.mjs:20
  throw new GaveUp('no luck at /pets');
        ^

GaveUp: no luck at /pets
    at send (file:///app/client.mjs:20:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:106:5)
    at async file:///app/error.mjs:4:1 {
  code: 'ERR_NO_LUCK'
}

Node.js v26.10.0
`,
    'GaveUp: no luck at /pets',
  ],
  [
    'Node.js, with a cause',
    `node:internal/process/promises:324
    triggerUncaughtException(err, true /* fromPromise */);
    ^

TypeError: fetch failed
    at Object.processResponse (node:internal/deps/undici/undici:14023:20)
    at async file:///app/client.mjs:1:12 {
  [cause]: Error: connect ECONNRESET 127.0.0.1:8080
      at makeNetworkError (node:internal/deps/undici/undici:12746:35)
}

Node.js v26.10.0
`,
    'TypeError: fetch failed ([cause]: Error: connect ECONNRESET 127.0.0.1:8080)',
  ],
  [
    'Node.js with a thrown text',
    `/app/client.cjs:1
throw 'no luck'
^
no luck
(Use \`node --trace-uncaught ...\` to show where the exception was thrown)

Node.js v26.10.0
`,
    'no luck',
  ],
  [
    'Node.js with a promise rejected with a text',
    `node:internal/process/promises:322
      new UnhandledPromiseRejection(reason);
      ^

UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "no luck".
    at throwUnhandledRejectionsMode (node:internal/process/promises:322:7) {
  code: 'ERR_UNHANDLED_REJECTION'
}

Node.js v26.10.0
`,
    'The promise rejected with the reason "no luck".',
  ],
  [
    'a Node.js program that prints its error',
    `Error: 500 at /pets
    at send (file:///app/client.mjs:20:9)
    at file:///app/error.mjs:4:1
giving up
`,
    'Error: 500 at /pets',
  ],
  [
    'Python',
    `Traceback (most recent call last):
  File "/app/error.py", line 5, in f
    raise ValueError("no luck")
ValueError: no luck

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/error.py", line 9, in <module>
    f()
    ~^^
  File "/app/error.py", line 7, in f
    raise GaveUp("at /pets") from e
GaveUp: at /pets
`,
    'GaveUp: at /pets',
  ],
  [
    'Go',
    `x
panic: assignment to entry in nil map

goroutine 1 [running]:
main.(*Errors).do(...)
	/app/main.go:4
main.main()
	/app/main.go:5 +0x98
exit status 2
`,
    'panic: assignment to entry in nil map',
  ],
  ['Go, by its log', '2026/06/01 12:00:00 gave up: 500\nexit status 1\n', '2026/06/01 12:00:00 gave up: 500'],
  [
    'Java',
    `Exception in thread "main" java.lang.IllegalStateException: gave up
	at shop.Errors.send(Errors.java:9)
	at shop.Main.main(Main.java:4)
`,
    'Exception in thread "main" java.lang.IllegalStateException: gave up',
  ],
  [
    'a shell',
    'curl: (22) The requested URL returned error: 500\nno luck\n',
    'curl: (22) The requested URL returned error: 500',
  ],
  ['output without an error', 'begun\nno luck\n', 'no luck'],
  ['an HTML page', `Error: ${htmlPage}`, 'Error: 502 Bad Gateway'],
  ['an HTML page alone', `begun\n${htmlPage}`, '502 Bad Gateway'],
  [
    'the beginning of an HTML page',
    `failed: ${htmlPage.slice(0, 50)}\n    at /pets\n`,
    'failed: an HTML page',
  ],
  ['the end of an HTML page', `no luck\n</center>\n</body></html>\n`, 'no luck'],
];

for (const [what, printed, line] of endings)
  test(`the line with the reason of the failure is found: ${what}`, () => {
    assert.equal(errorLine(linesOf(printed)), line);
  });

test('a stack that is longer than the kept output does not hide the error', () => {
  const stack = Array.from({ length: 60 }, (_, i) => `    at call${i} (file:///app/error.mjs:${i}:1)\n`);
  const lines = linesOf('begun\n', 'GaveUp: no luck\n', ...stack, '\nNode.js v26.10.0\n');
  assert.equal(errorLine(lines), 'GaveUp: no luck');
  assert.ok(lines.length <= 20);
  const dump = Array.from({ length: 300 }, (_, i) => `  error${i}: [Symbol(kFlushError)],\n`);
  const dumped = linesOf('GaveUp: no luck at all {\n', ...dump, '}\n', '\nNode.js v26.10.0\n');
  assert.equal(errorLine(dumped), 'GaveUp: no luck at all');
  // A library's error with all its properties, in one piece.
  const whole = `AxiosError: aborted\n    at send (file:///app/a.mjs:1:1) {\n${'  [Symbol(kPath)]: "/v1",\n'.repeat(2_000)}}\n`;
  assert.equal(errorLine(linesOf(whole)), 'AxiosError: aborted');
});
