import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Answers, infoOf, startOddValkey, texts } from './support/odd-valkey.ts';
import { type Petstore, startPetstore } from './support/petstore.ts';
import { alone, clock, isShared, logged } from './support/sharing.ts';

const timeoutMs = 5_000;

const numbers = (...all: (number | string)[]) =>
  `*${all.length + 1}\r\n$8\r\nadmitted\r\n${all.map((n) => `:${n}\r\n`).join('')}`;
const minute = Math.floor(clock() / 60_000);
const day = Math.floor(clock() / 86_400_000);
/** The decision on a first request, as the script answers it. */
const right = [0, clock(), minute, 1, day, 1, 0, 0, 0, 0];

/** A petstore that asks a server which answers `answer` to decisions, and what this is in all else. */
async function startOver(t: TestContext, answers: Answers, scheme = 'redis', path = '') {
  const { port } = await startOddValkey(t, answers);
  const urls = [`${scheme}://127.0.0.1:${port}${path}`];
  return startPetstore(t, { valkey: { urls, timeoutMs, clock } });
}

const single =
  (answer: () => string): Answers =>
  ([command]) =>
    command === 'info' ? infoOf('standalone') : answer();

const wrongDecisions: Record<string, string> = {
  'a word': '+OK\r\n',
  'a number': ':5\r\n',
  nothing: '$-1\r\n',
  'an empty list': '*0\r\n',
  'a list without an end': '*1\r\n+admitted\r\n',
  'an outcome that there is not': numbers(...right).replace('admitted', 'favoured'),
  'a list that is too short': numbers(...right.slice(1)),
  'a list that is too long': numbers(...right, 0),
  'a number below zero': numbers(...right.with(3, -1)),
  'a number that is not exact': numbers(...right.map(String).with(4, '9007199254740993')),
  'texts for numbers': texts('admitted', ...right.map(String).with(4, '1e30')),
  'lists for numbers': `*11\r\n+admitted\r\n${'*1\r\n:1\r\n'.repeat(10)}`,
};

test('what is not a decision ends sharing, and is neither told to a caller nor counted on', async (t) => {
  let answer = numbers(...right);
  const first = await startOver(
    t,
    single(() => answer),
  );
  assert.equal((await first.call('GET', '/pets/1')).status, 200);
  assert.ok(isShared(first));
  for (const [name, wrong] of Object.entries(wrongDecisions)) {
    answer = wrong;
    const store =
      name === 'a word'
        ? first
        : await startOver(
            t,
            single(() => answer),
          );
    const left = [];
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await store.call('GET', '/pets/1');
      assert.equal(status, 200, name);
      left.push(Number(headers['x-ratelimit-remaining']));
    }
    assert.equal((left[0] as number) - (left[1] as number), 1, name);
    assert.ok(!isShared(store), name);
    assert.deepEqual([logged(store, 'is not a decision'), logged(store, alone)], [1, 1], name);
    await store.local.save();
    assert.equal(logged(store, 'cannot be saved'), 0, name);
  }
});

/** Each made the parser throw, or take as much memory as it could. */
const unreadable: Record<string, string> = {
  'an array of no possible length': '*99999999999999\r\n',
  'arrays that take much memory': '*30000000\r\n'.repeat(3),
  'arrays in arrays': '*1\r\n'.repeat(200_000),
  'a long text': '$100000000\r\n',
  'an endless line': `+${'x'.repeat(1_500_000)}`,
};

for (const [name, bytes] of Object.entries(unreadable)) {
  test(`${name} from a server, a Sentinel or a node ends the connection and nothing else`, async (t) => {
    let isOdd = false;
    const single: Answers = ([command]) =>
      isOdd ? bytes : command === 'info' ? infoOf('standalone') : numbers(...right);
    const running = await startOver(t, single);
    assert.ok(isShared(running));
    isOdd = true;
    const isAlone = async (store: Petstore, reason = 'cannot be read') => {
      assert.equal((await store.call('GET', '/pets/1')).status, 200);
      assert.ok(!isShared(store));
      assert.deepEqual([logged(store, reason), logged(store, alone)], [1, 1], store.log.join(''));
    };
    await isAlone(running);
    await isAlone(await startOver(t, () => bytes));
    await isAlone(await startOver(t, () => bytes, 'redis+sentinel', '/pets-1'));
    const node: Answers = ([command]) => (command === 'info' ? infoOf('cluster') : bytes);
    // The client library keeps to itself why a connection ended over which it asks for slots.
    await isAlone(await startOver(t, node), 'Connection is closed');
  });
}

test('slots of a cluster and a place of a master that have no such form are not used', async (t) => {
  const nodes = (...ranges: string[]) => `*${ranges.length}\r\n${ranges.join('')}`;
  const range = (from: number, to: number, node: string) => `*3\r\n:${from}\r\n:${to}\r\n${node}`;
  const node = '*2\r\n$9\r\n127.0.0.1\r\n:1\r\n';
  for (const slots of [
    '$-1\r\n',
    '+OK\r\n',
    nodes(range(0, 16_383, '*-1\r\n')),
    nodes(range(0, 2_000_000_000, node)),
    nodes(range(0, 16_383, node.replace(':1', ':99999'))),
  ]) {
    const store = await startOver(t, ([command]) => (command === 'info' ? infoOf('cluster') : slots));
    assert.equal((await store.call('GET', '/pets/1')).status, 200);
    assert.equal(
      logged(store, 'is not the slots of a cluster') + logged(store, 'is not the place'),
      1,
      slots,
    );
  }
  for (const place of ['+OK\r\n', '*0\r\n', texts('localhost', '99999'), texts('x'.repeat(256), '6379')]) {
    const store = await startOver(t, () => place, 'redis+sentinel', '/pets-1');
    assert.equal(logged(store, 'is not the place of a server'), 1, place);
  }
});

test('no user and no password gets into the log or the output where a server repeats what it was sent', async (t) => {
  const long = `s3cr3t-${'0123456789'.repeat(20)}`;
  const logins = [':s3cr3t-one', 'bobby:bobby-s3cr3t', 's3cr3t-bob:s3cr3t%2Fp%23%C3%BCss', `:${long}`];
  const repeat: Answers = (words) => {
    const args = words.slice(1).map((word) => `'${Buffer.from(word, 'latin1').toString().slice(0, 100)}' `);
    const told = `-ERR unknown command '${words[0]}', with args beginning with: ${args.join('')}`;
    return `${told}${args.map(encodeURIComponent).join('')}\r\n`;
  };
  const { port } = await startOddValkey(t, repeat);
  const urls = logins.map((login) => `redis://${login}@127.0.0.1:${port}`);
  const query = '?sentinel_username=s3cr3t-ann&sentinel_password=s3cr3t%2B1';
  urls.push(`redis+sentinel://:s3cr3t@127.0.0.1:${port}/pets-1${query}`);
  for (const url of urls) {
    const store = await startPetstore(t, { valkey: { urls: [url], timeoutMs, clock } });
    assert.equal(logged(store, "unknown command 'auth'"), 1, url);
    assert.doesNotMatch(store.log.join(''), /s3cr3t|bobby|0123|p#|%C3/, url);
  }
});
