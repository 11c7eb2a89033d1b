import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createPetstore, PetstoreError, type Petstore as StoreClient } from '../../src/client/index.ts';
import { faults } from '../../src/lab/faults/list.ts';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import type { PlannedFault } from '../../src/lab/rehearsals/schema.ts';
import { assertInvariants } from './invariants.ts';
import { endRehearsal, quickParameters, rehearse } from './lab.ts';
import { type Petstore, startPetstore } from './petstore.ts';

/** A step of a program. The numbers choose among the things that it created before; any number is valid. */
interface Command {
  act: keyof typeof acts;
  which: number;
  other: number;
  amount: number;
  text: string;
}

/** Ids as the client knows them, in the order of creation. */
type Ids = Record<'categories' | 'pets' | 'orders', (number | bigint)[]>;

type Act = (client: StoreClient, ids: Ids, command: Command) => Promise<unknown>;

const pick = (all: readonly (number | bigint)[], which: number) => all[which % all.length] ?? 1;

/** The steps of programs. */
const acts = {
  createCategory: async (client, { categories }, { text }) =>
    categories.push((await client.createCategory({ name: text })).id),
  createPet: async (client, { categories, pets }, { text, which }) =>
    pets.push((await client.createPet({ name: text, categoryId: pick(categories, which) })).id),
  renamePet: (client, { pets }, { text, which }) =>
    client.changePet(pick(pets, which), () => ({ name: text })),
  movePet: async (client, { pets, categories }, { which, other }) => {
    const categoryId = pick(categories, other);
    for (;;) {
      const pet = await client.findPet(pick(pets, which));
      if (!pet || pet.categoryId === categoryId) return;
      try {
        return await client.replacePet(pet.id, { name: pet.name, categoryId }, { ifMatch: pet });
      } catch (error) {
        if (!(error instanceof PetstoreError) || error.code !== 'precondition_failed') throw error;
      }
    }
  },
  addStock: (client, { pets }, { which, amount }) =>
    client.changeInventory(pick(pets, which), ({ quantity }) => ({ quantity: quantity + amount })),
  placeOrder: async (client, { pets, orders }, { which, amount }) =>
    orders.push((await client.placeOrder({ petId: pick(pets, which), quantity: amount })).id),
  completeOrder: (client, { orders }, { which }) =>
    client.changeOrder(pick(orders, which), () => ({ complete: true })),
  changeOrder: (client, { orders }, { which, amount }) =>
    client.changeOrder(pick(orders, which), () => ({ quantity: amount })),
  cancelOrder: (client, { orders }, { which }) => client.cancelOrder(pick(orders, which)),
  deletePet: (client, { pets }, { which }) => client.deletePet(pick(pets, which)),
  listPets: async (client) => (await Array.fromAsync(client.listPets({ limit: 3 }))).map(({ name }) => name),
  listOrders: async (client) =>
    (await Array.fromAsync(client.listOrders({ limit: 3 }))).map(({ quantity }) => quantity),
} satisfies Record<string, Act>;

/** The result of a step, without ids, since a fault may change them. What is already removed counts as removed. */
async function outcomeOf(act: Command['act'], result: Promise<unknown>): Promise<unknown> {
  try {
    return act.startsWith('list') ? await result : void (await result);
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    return ['cancelOrder', 'deletePet'].includes(act) && error.code === 'not_found' ? undefined : error.code;
  }
}

const aProgram = fc.array(
  fc.record<Command>({
    act: fc.constantFrom(...(Object.keys(acts) as Command['act'][])),
    which: fc.nat(5),
    other: fc.nat(5),
    amount: fc.integer({ min: 1, max: 4 }),
    text: fc.constantFrom('Smaug', 'Bella', 'Rex', 'Nala'),
  }),
  { minLength: 4, maxLength: 10, size: 'max' },
);

/** Every program first creates things to work on. */
const beginning = [
  'createCategory' as const,
  ...Array.from({ length: 3 }, () => 'createPet' as const),
  ...Array.from({ length: 2 }, () => 'addStock' as const),
].map((act, which): Command => ({ act, which, other: 0, amount: 3, text: `No. ${which}` }));

/** Faults at which the client gives up. */
const final = ['unauthorized', 'same-page', 'moved-away'];
/** More than any fault lasts. */
const patient = { attempts: 300, timeoutMs: 86_400_000, maxWaitMs: 86_400_000 };

type ParameterSchema = Record<'minimum' | 'default', number> & { enum?: (number | string)[] };

/** Any fault with valid parameters. */
function aFault(leftOut: readonly string[]): fc.Arbitrary<PlannedFault> {
  const all = faults.filter(({ name }) => !leftOut.includes(name));
  return fc.constantFrom(...all).chain((fault) => {
    const operation = fc.constantFrom(
      ...petstoreApi.operations.filter((one) => fault.fits(one, petstoreApi)).map(({ id }) => id),
    );
    const parameters = Object.entries(fault.parameters).map(([name, schema]) => {
      const { minimum, default: usual, enum: names = [minimum, usual] } = schema as ParameterSchema;
      return [name, fc.constantFrom(...(name in quickParameters ? [quickParameters[name]] : names))];
    });
    const counts = { after: fc.nat(3), times: fc.integer({ min: 1, max: 3 }) };
    const given = fc.record({
      operation: fault.takesNoOperation
        ? fc.constant(undefined)
        : fc.option(operation, { nil: undefined, freq: 1 }),
      ...(!fault.isCondition && counts),
      ...Object.fromEntries(parameters),
    });
    return given.map((rest) => ({ fault: fault.name, ...rest }) as PlannedFault);
  });
}

/** A rehearsal. It has each condition at most once. */
const someFaults = (leftOut: readonly string[]) =>
  fc.uniqueArray(aFault(leftOut), {
    minLength: 2,
    maxLength: 6,
    size: 'max',
    selector: ({ fault, times, after, ...rest }) =>
      faults.find(({ name }) => name === fault)?.isCondition
        ? fault
        : JSON.stringify({ fault, times, after, rest }),
  });

/** Starts a store in which each program has a workspace of its own, and waiting moves the clock. */
async function startStore(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  const origin = await store.listen();
  let workspaces = 0;
  /** Runs a program in a new workspace, under faults if any are given. */
  const run = async (program: readonly Command[], planned: readonly PlannedFault[] = []) => {
    const { key, workspaceId } = await store.addWorkspace(`program ${++workspaces}`, false);
    const wait = async (ms: number) => {
      store.nowMs += ms;
      await sleep(1);
    };
    const clock = { now: () => store.nowMs, sleep: wait };
    const client = createPetstore({ baseUrl: `${origin}/v1`, apiKey: key, ...patient, clock });
    const options = { key, expiresInSeconds: 86_400 };
    const rehearsal = planned.length > 0 ? await rehearse(store, planned, options) : undefined;
    const ids: Ids = { categories: [], pets: [], orders: [] };
    const outcomes = [];
    for (const command of [...beginning, ...program])
      outcomes.push([command.act, await outcomeOf(command.act, acts[command.act](client, ids, command))]);
    const ended = rehearsal && (await endRehearsal(store, rehearsal.id, key));
    const performed = ended?.faults.filter((fault) => fault.performed > 0) ?? [];
    return { outcomes, performed, state: await stateOf(store, key), workspaceId };
  };
  return { store, run };
}

/** The content of a workspace and its events, without their times and request ids. */
async function stateOf(store: Petstore, key: string) {
  const lists = ['/categories', '/pets', '/inventory', '/store/orders', '/store/events'];
  const state = await Promise.all(
    lists.map(async (path) => {
      const { body, headers } = await store.call('GET', `${path}?limit=100`, { key });
      assert.equal(headers.link, undefined, 'all of it is on one page');
      return [path, body.map(({ timestamp, requestId, ...seen }: Record<string, unknown>) => seen)];
    }),
  );
  return Object.fromEntries(state);
}

interface Extent {
  runs: number;
  seed: number;
}

/** Runs programs of `petstore-lab/client` with and without faults. Fails unless both end with the same state. Returns the performed faults. */
export async function assertSameUnderFaults(t: TestContext, { runs, seed }: Extent): Promise<Set<string>> {
  const { run } = await startStore(t);
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(aProgram, someFaults(['conflict', 'stale-read', ...final]), async (program, planned) => {
      const undisturbed = await run(program);
      const rehearsed = await run(program, planned);
      assert.deepEqual(rehearsed.outcomes, undisturbed.outcomes);
      assert.deepEqual(rehearsed.state, undisturbed.state);
      for (const { fault } of rehearsed.performed) met.add(fault);
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
  return met;
}

/** Runs programs under any faults, also `conflict`, and checks the invariants of the store. */
export async function assertSoundUnderFaults(t: TestContext, { runs, seed }: Extent): Promise<void> {
  const { store, run } = await startStore(t);
  await fc.assert(
    fc.asyncProperty(aProgram, someFaults(final), async (program, planned) => {
      const { workspaceId } = await run(program, planned);
      await assertInvariants(store.db.read, workspaceId);
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
}
