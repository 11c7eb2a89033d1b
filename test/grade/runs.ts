import { BaselineRuns } from '../../src/grade/baseline.ts';
import { PrintedLines } from '../../src/grade/compare/printed-lines.ts';
import type { Item, StoreState } from '../../src/grade/compare/state.ts';
import { type StoreEvent, storeResultOf } from '../../src/grade/compare/store-result.ts';
import type { Deviation } from '../../src/grade/grade.ts';
import { plansOf, type RunPlan, type SelectedFault, selectFaults } from '../../src/grade/run/plan.ts';
import type { Run } from '../../src/grade/run/run.ts';
import { judgeRun } from '../../src/grade/verdict.ts';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import type { RecordedRequest } from '../../src/lab/recordings/schema.ts';
import { requests as recorded } from './grades.ts';

/** Rex is pet 1, with a stock of 9. */
export const initial = (): StoreState => ({
  categories: [{ id: 1, name: 'Dogs' }],
  pets: [{ id: 1, name: 'Rex', categoryId: 1, status: 'available' }],
  orders: [],
  inventory: [{ petId: 1, quantity: 9, status: 'available' }],
  webhooks: [],
});

export type EventSketch = Pick<StoreEvent, 'type' | 'data' | 'previous'>;
/** A request, and the events of its changes. */
export type Sketch = Partial<Parameters<typeof recorded>[number]> & { events?: EventSketch[] };

/** A run that sent these requests, and printed these lines. */
export function runOf(sketches: Sketch[], lines: string[] = [], exitStatus: number | undefined = 0): Run {
  const requests = recorded(
    ...sketches.map(({ events: _, ...request }, i) => ({ atMs: 10 * i, target: '/v1/pets', ...request })),
  );
  const events = sketches.flatMap(({ events = [] }, i): StoreEvent[] => {
    const { requestId, at } = requests[i] as RecordedRequest;
    return events.map((event) => ({ ...event, requestId, timestamp: at }));
  });
  const printed = new PrintedLines();
  printed.add(Buffer.from(lines.map((line) => `${line}\n`).join('')));
  return {
    ...{ exitStatus, lastLines: lines, tookMs: 100, requests, requestCount: requests.length, printed },
    result: new PrintedLines(),
    ...{ storeResult: storeResultOf(stateAfter(events), initial(), events), performed: 1 },
  };
}

/** The state of the store after some events. */
function stateAfter(events: StoreEvent[]): StoreState {
  const state = initial() as StoreState & Record<string, Item[]>;
  for (const { type, data } of events) {
    const [kind, what] = type.split('.');
    if (kind === 'inventory') {
      Object.assign(state.inventory.find(({ petId }) => petId === data.petId) as object, data);
      continue;
    }
    const rows = state[`${kind}s`] as Item[];
    const index = rows.findIndex(({ id }) => id === data.id);
    if (index === -1) rows.push(data);
    else rows.splice(index, 1, ...(what === 'deleted' || what === 'cancelled' ? [] : [data]));
    if (what === 'created' && kind === 'pet')
      state.inventory.push({ petId: Number(data.id), quantity: 1, status: 'available' });
  }
  return state;
}

export interface Judging {
  fault?: string;
  times?: number;
  ignoredOutput?: true | RegExp;
  /** Another run under the same fault. */
  again?: Run;
}

/** The deviations of a run from two runs without faults, and the verdict. */
export function judge(
  calm: [Run, ...Run[]],
  run: Run,
  { fault = 'lost-answer', times = 1, ignoredOutput, again }: Judging = {},
) {
  const [selected] = selectFaults({ faults: [{ fault, times, after: 0 }] }) as [SelectedFault];
  const [plan] = plansOf(selected, usage) as [RunPlan];
  return judgeRun(plan, run, baselineOf(calm, ignoredOutput), again);
}
export const baselineOf = (calm: [Run, ...Run[]], ignoredOutput?: true | RegExp) =>
  new BaselineRuns(calm, initial(), { ignoredOutput, api: petstoreApi });
const usage = {
  api: petstoreApi,
  operations: petstoreApi.operations.map((operation) => ({ operation, uses: 1 })),
  ...{ requestCount: 9, longestMs: 1 },
};

export const found = ({ deviations }: { deviations: Deviation[] }) =>
  deviations.map(({ kind, what, requests }) => [kind, what, requests.join(' ')]);
/** The same without the requests. */
export const told = (run: { deviations: Deviation[] }) =>
  found(run).map(([kind, what]) => `${kind}: ${what}`);

const pet = (id: number, name: string) => ({ id, name, categoryId: 1, status: 'available' });
export const create = (id: number, name: string, more: Partial<Sketch> = {}): Sketch => ({
  ...{ method: 'POST', operation: 'createPet', status: 201 },
  events: [{ type: 'pet.created', data: pet(id, name) }],
  ...more,
});
export const remove = (id: number, name: string): Sketch => ({
  ...{ method: 'DELETE', operation: 'deletePet', status: 204 },
  events: [{ type: 'pet.deleted', data: pet(id, name) }],
});
export const rename = (id: number, before: string, after: string, more: Partial<Sketch> = {}): Sketch => ({
  ...{ method: 'PATCH', operation: 'updatePet' },
  events: [{ type: 'pet.updated', data: pet(id, after), previous: { name: before } }],
  ...more,
});
/** The event of a change of the stock of Rex. His status follows from it. */
export const stocked = (before: number, after: number): EventSketch => ({
  ...{ type: 'inventory.updated', data: { petId: 1, quantity: after, status: statusOf(after) } },
  previous: { quantity: before, ...(before * after === 0 && { status: statusOf(before) }) },
});
const statusOf = (quantity: number) => (quantity === 0 ? 'pending' : 'available');
export const setStock = ([before, after]: [number, number]): Sketch => ({
  ...{ method: 'PATCH', target: '/v1/inventory/1', operation: 'updateInventory' },
  events: [stocked(before, after)],
});
/** An order of one unit of Rex, which changes his stock. */
export const order = (id: number, stock: number, more: Partial<Sketch> = {}): Sketch => ({
  ...{ method: 'POST', target: '/v1/store/orders', operation: 'placeOrder', status: 201 },
  events: [
    { type: 'order.placed', data: { id, petId: 1, quantity: 1, complete: false } },
    stocked(stock + 1, stock),
  ],
  ...more,
});
export const list: Sketch = { operation: 'listPets' };
export const lost = { isCut: true, fault: 'lost-answer' } as const;
