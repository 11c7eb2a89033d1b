import assert from 'node:assert/strict';
import fc from 'fast-check';
import { faults } from '../../../src/lab/faults/list.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import { apis, assertAsDescribed, decoded } from '../description.ts';
import { assertUntouched } from '../lab.ts';
import { ample, type Petstore } from '../petstore.ts';
import { mayExceedHead, type Wire } from './interpret.ts';
import { Model } from './model.ts';
import { count, failWith, inProcess, type Report } from './run.ts';
import { curlOf, type Fresh, operationStep, toWire } from './steps.ts';

const [, lab] = apis;
const sequencesPerBatch = 10;
const maxStepsPerSequence = 60;

/** A fault with its allowed parameters. The description alone allows more. */
const plan = fc.constantFrom(...faults).chain(({ name, isCondition, fits }) =>
  fc.record(
    {
      fault: fc.constant(name),
      operation: fc.constantFrom(
        ...petstoreApi.operations.filter((one) => fits(one, petstoreApi)).map(({ id }) => id),
      ),
      ...(!isCondition && { after: fc.nat(3), times: fc.integer({ min: 1, max: 3 }) }),
    },
    { requiredKeys: ['fault'], noNullPrototype: true },
  ),
);

const labStep: fc.Arbitrary<Fresh> = fc
  .tuple(operationStep(lab), fc.boolean(), fc.array(plan, { minLength: 1, maxLength: 4 }))
  .map(([step, isWhole, faults]) =>
    step.operation.id === 'startRehearsal' && isWhole ? { ...step, value: { faults } } : step,
  );

/**
 * Sends at least `requests` requests to the lab, half of them odd, in sequences, each with its own key. Each response matches
 * the description of the lab, no fault affects any, and no valid request is refused for its form. Meanwhile
 * the other key of the workspace meets no fault, and the workspace does not change, unless it is reset.
 */
export async function fuzzLab(store: Petstore, requests: number, seed: number): Promise<Report> {
  const report: Report = { requests: 0, answers: new Map() };
  const steps = fc.array(labStep, { minLength: 1, maxLength: maxStepsPerSequence, size: 'max' });
  const property = fc.asyncProperty(steps, (steps) => runSequence(store, steps, report));
  for (let batch = seed; report.requests < requests; batch++) {
    await fc.assert(property, {
      seed: batch,
      numRuns: sequencesPerBatch,
      reporter: failWith(batch),
      endOnFailure: true,
    });
  }
  return report;
}

async function runSequence(store: Petstore, steps: Fresh[], report: Report): Promise<void> {
  // The limit of an address is per minute.
  store.nowMs += 60_000;
  const { key } = await store.addKey('enterprise', ample);
  const model = await Model.of(store.db.read, 1);
  const send = inProcess(store);
  let before = await shown(store);
  const script: Wire[] = [];
  try {
    for (const step of steps) {
      const wire = toWire(step, model, key);
      // A request that became one to the store may meet the requested faults.
      if (mayExceedHead(wire) || !decoded(wire.path)?.startsWith(`${lab.start}/`)) continue;
      script.push(wire);
      // A workspace can be reset once a second.
      store.aheadMs += 1_000;
      const answer = await send(wire);
      if (step.operation.id === 'resetWorkspace' && answer.status < 300) before = await shown(store);
      const what = `${wire.method} ${wire.path}?${wire.query} -> ${answer.status} ${answer.text}`;
      assert.ok(answer.status < 500, what);
      assertAsDescribed(wire.method, `${wire.path}${wire.query && `?${wire.query}`}`, answer);
      assertUntouched(answer);
      const isPlain = step.twists.length === 0;
      // A hundred faults, each with all parameters of all faults, contain too many values.
      const mayBeLarge = step.operation.id === 'startRehearsal' && answer.status === 413;
      if (isPlain && !mayBeLarge) assert.ok(![401, 405, 413, 415, 429].includes(answer.status), what);
      if (answer.status === 201) model.begun.push(JSON.parse(answer.text).id);
      count(report, `${step.operation.id} ${isPlain || answer.status >= 400 ? answer.status : 'odd'}`);
    }
    const bystander = await store.call('GET', '/pets/1');
    assert.equal(bystander.status, 200);
    assertUntouched(bystander);
    assert.deepEqual(await shown(store), before, 'the workspace is as it was');
  } catch (error) {
    const lines = script.map((wire) => curlOf(wire, key)).join('\n');
    throw new Error(`${(error as Error).message}\nThe last of these failed:\n${lines}`);
  }
}

/** The state of the workspace that API callers see. */
async function shown({ db }: Petstore): Promise<unknown> {
  const { rows, stock } = await Model.of(db.read, 1);
  return { rows, stock, events: await db.read`select count(*) from events` };
}
