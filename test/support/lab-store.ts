import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { faults } from '../../src/lab/faults/list.ts';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import type { PlannedFault } from '../../src/lab/rehearsals/schema.ts';
import { CarefulClient } from './careful-client.ts';
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
interface Made {
  categories: (number | bigint)[];
  pets: (number | bigint)[];
  orders: (number | bigint)[];
}

type Act = (client: CarefulClient, made: Made, command: Command) => Promise<unknown>;

const pick = <T>(all: readonly T[], which: number): T | undefined => all[which % all.length];
const noted = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

/** The steps of programs. Each returns its result without ids, since a fault may change them. */
const acts = {
  createCategory: async (client, { categories }, { text }) => {
    const reply = await client.post('/categories', { name: text });
    if (reply.status === 201) categories.push(reply.body.id);
    return noted(reply);
  },
  createPet: async (client, { categories, pets }, { text, which }) => {
    const categoryId = pick(categories, which);
    if (categoryId === undefined) return 'no category';
    const reply = await client.post('/pets', { name: text, categoryId });
    if (reply.status === 201) pets.push(reply.body.id);
    return noted(reply);
  },
  renamePet: (client, { pets }, { text, which }) =>
    client.change(petOf(pick(pets, which)), { method: 'PATCH', path: `/pets/${pick(pets, which)}` }, () => ({
      body: { name: text },
      isDone: ({ name }) => name === text,
    })),
  movePet: (client, { pets, categories }, { which, other }) =>
    client.change(petOf(pick(pets, which)), { method: 'PUT', path: `/pets/${pick(pets, which)}` }, (pet) => ({
      body: { ...pet, categoryId: pick(categories, other) },
      isDone: ({ categoryId }) => categoryId === pick(categories, other),
    })),
  addStock: (client, { pets }, { which, amount }) => {
    const path = `/inventory/${pick(pets, which) ?? 1}`;
    return client.change({ path }, { method: 'PATCH', path }, ({ quantity }) => ({
      body: { quantity: quantity + amount },
      isDone: (later) => later.quantity === quantity + amount,
    }));
  },
  placeOrder: async (client, { pets, orders }, { which, amount }) => {
    const petId = pick(pets, which);
    const reply = await client.post('/store/orders', { ...(petId && { petId }), quantity: amount });
    if (reply.status === 201) orders.push(reply.body.id);
    return noted(reply);
  },
  completeOrder: (client, { orders }, { which }) => {
    const path = `/store/orders/${pick(orders, which) ?? 1}`;
    return client.change({ path }, { method: 'PATCH', path }, () => ({
      body: { complete: true },
      isDone: ({ complete }) => complete,
    }));
  },
  changeOrder: (client, { orders }, { which, amount }) => {
    const path = `/store/orders/${pick(orders, which) ?? 1}`;
    return client.change({ path }, { method: 'PATCH', path }, () => ({
      body: { quantity: amount },
      isDone: ({ quantity }) => quantity === amount,
    }));
  },
  cancelOrder: (client, { orders }, { which }) => {
    const path = `/store/orders/${pick(orders, which) ?? 1}`;
    return client.change({ path }, { method: 'DELETE', path }, () => ({ isDone: () => false }));
  },
  deletePet: (client, { pets }, { which }) => {
    const path = `/pets/${pick(pets, which) ?? 1}`;
    return client.change(petOf(pick(pets, which)), { method: 'DELETE', path }, () => ({
      isDone: () => false,
    }));
  },
  listPets: async (client) => (await client.list('/pets?limit=3')).map(({ name }) => name),
  listOrders: async (client) => (await client.list('/store/orders?limit=3')).map(({ quantity }) => quantity),
} satisfies Record<string, Act>;

/** A pet is read as a list of one, since its own path is deprecated. */
const petOf = (id: number | bigint = 1) => ({ path: `/pets?id=${id}`, isList: true });

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

/** Faults that a careful client gives up at if they repeat. */
const final = ['unauthorized'];

/** Any fault with valid parameters. */
function aFault(leftOut: readonly string[]): fc.Arbitrary<PlannedFault> {
  const all = faults.filter(({ name }) => !leftOut.includes(name));
  return fc.constantFrom(...all).chain((fault) => {
    const operation = fc.constantFrom(
      ...petstoreApi.operations.filter((one) => fault.fits(one, petstoreApi)).map(({ id }) => id),
    );
    const parameters = Object.entries(fault.parameters).map(([name, schema]) => {
      const {
        minimum,
        default: usual,
        enum: names = [minimum, usual],
      } = schema as Record<string, number> & {
        enum?: (number | string)[];
      };
      return [name, fc.constantFrom(...(name in quickParameters ? [quickParameters[name]] : names))] as const;
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
const someFaults = (leftOut: readonly string[] = []) =>
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
    const client = new CarefulClient({
      ...{ origin, key },
      now: () => store.nowMs,
      sleep: async (ms) => {
        store.nowMs += ms;
        await sleep(1);
      },
    });
    const options = { key, expiresInSeconds: 86_400 };
    const rehearsal = planned.length > 0 ? await rehearse(store, planned, options) : undefined;
    const made: Made = { categories: [], pets: [], orders: [] };
    const outcomes = [];
    for (const command of [...beginning, ...program])
      outcomes.push([command.act, await acts[command.act](client, made, command)]);
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

/** Runs programs of a careful client with and without faults. Fails unless both end with the same state. Returns the performed faults. */
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
