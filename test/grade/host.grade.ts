import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { gradeProgram } from '../../src/grade/grade-program.ts';
import { openGradingService } from '../../src/grade/grading-service.ts';
import { programOf } from '../support/grading.ts';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** A network namespace, as a container has, and the address of this machine there. */
function networkNamespace(t: TestContext): { name: string; host: string } | undefined {
  const name = `petstore-${process.pid}`;
  const [ours, theirs] = [`ps${process.pid}a`, `ps${process.pid}b`];
  // From the block for tests of devices (RFC 2544), which no network uses.
  const [host, inside] = [1, 2].map((last) => `198.18.${process.pid % 256}.${last}`) as [string, string];
  try {
    ip('netns', 'add', name);
    t.after(() => ip('netns', 'delete', name));
    ip('link', 'add', ours, 'type', 'veth', 'peer', 'name', theirs, 'netns', name);
    ip('address', 'add', `${host}/30`, 'dev', ours);
    ip('link', 'set', ours, 'up');
    ip('-n', name, 'address', 'add', `${inside}/30`, 'dev', theirs);
    ip('-n', name, 'link', 'set', theirs, 'up');
    return { name, host };
  } catch {
    return undefined;
  }
}

test('a program in another network, as in a container, is graded like any other', async (t) => {
  const network = networkNamespace(t);
  if (!network) return t.skip('no network namespace can be made here');
  const store = await openGradingService({}, undefined, network.host);
  t.after(() => store.close());
  const { baseline, faults, verdict } = await gradeProgram({
    ...{ store, command: ['ip', 'netns', 'exec', network.name, ...programOf('careful')] },
    faults: ['lost-answer', 'moved', { fault: 'no-answer', operation: 'listPets', silenceMs: 300 }],
  });
  assert.equal(baseline.problem, undefined);
  assert.deepEqual(
    faults.map(({ fault, verdict }) => [fault, verdict]),
    ['no-answer', 'lost-answer', 'moved'].map((fault) => [fault, 'survived']),
  );
  assert.equal(verdict, 'passed');
});
