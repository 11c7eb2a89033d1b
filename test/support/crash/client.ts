import type { State } from '../history.ts';
import type { Service } from '../service.ts';
import { pick, type Random } from './random.ts';
import { idOf, type Store, type Write } from './store.ts';

/** The number of concurrent writers. */
export const clientCount = 32;

export type WritingClient = ReturnType<typeof startWriting>;

/** Writes to its own resources, one write after the other, and orders the shared pets. */
export function startWriting(number: number, store: Store, random: Random) {
  const owned = new Set<string>();
  let writes = 0;
  const client = {
    /** The write in flight when the service was killed. */
    unanswered: undefined as Write | undefined,
    /** The resource that it created or changed, if it was kept. */
    keptPath: undefined as string | undefined,
    async writeUntilKilled(service: Service): Promise<void> {
      client.keptPath = undefined;
      for (;;) {
        const write = nextWrite();
        client.unanswered = write;
        const answer = await store.send(service, write).catch((error) => onlyKilled(service, error));
        if (!answer) return;
        client.unanswered = undefined;
        if (answer.status >= 400) {
          store.counts.refused++;
          continue;
        }
        store.counts.answered++;
        note(write.method === 'POST' ? `${write.path}/${answer.body.id}` : write.path);
      }
    },
    /** Continues with a resource whose response did not arrive. */
    own(path: string): void {
      client.keptPath = path;
      note(path);
    },
  };
  return client;

  /** Remembers resources for later changes. */
  function note(path: string): void {
    const state = store.state(path);
    if (path.startsWith('/inventory/')) return;
    if (state && !state.complete) owned.add(path);
    else owned.delete(path);
  }

  function nextWrite(): Write {
    const name = `client-${number}-write-${++writes}`;
    const own = (prefix: string) => {
      const paths = [...owned].filter((path) => path.startsWith(prefix));
      return paths.length > 0 ? pick(paths, random) : undefined;
    };
    const [pet, order, category] = [own('/pets/'), own('/store/orders/'), own('/categories/')];
    const categoryId = category && random(2) ? idOf(category) : 1 + random(40);
    const newPet = { name, categoryId, status: pick(['available', 'pending', 'sold'], random) };
    const post = (path: string, body: State, refusals: string[] = []): Write => {
      return { method: 'POST', path, body, refusals, ...(random(2) && { idempotencyKey: name }) };
    };
    const choices: Write[] = [
      post('/pets', newPet, ['invalid_reference']),
      post('/store/orders', newOrder(), ['insufficient_stock']),
      post('/store/orders', newOrder(), ['insufficient_stock']),
      post('/categories', { name }),
    ];
    if (pet) {
      const quantity = random(100);
      choices.push(
        { method: 'PUT', path: pet, body: newPet, refusals: ['invalid_reference'] },
        { method: 'PATCH', path: pet, body: { name } },
        { method: 'DELETE', path: pet },
        { method: 'PATCH', path: `/inventory/${idOf(pet)}`, body: { quantity } },
      );
    }
    if (order) {
      const quantity = 1 + random(5);
      choices.push(
        { method: 'PATCH', path: order, body: { quantity }, refusals: ['insufficient_stock'] },
        { method: 'PATCH', path: order, body: { complete: true } },
        { method: 'DELETE', path: order },
      );
    }
    if (category) {
      const description = `${name} `.repeat(1 + random(9));
      choices.push(
        { method: 'PUT', path: category, body: { name, description } },
        { method: 'DELETE', path: category, refusals: ['conflict'] },
      );
    }
    return pick(choices, random);
  }

  /** Its date distinguishes an order from every other. */
  function newOrder(): State {
    const petId = pick([...store.sharedPetIds, undefined], random);
    const shipDate = new Date((writes * clientCount + number) * 1000).toISOString().replace('.000', '');
    return { ...(petId && { petId }), quantity: 1 + random(3), shipDate };
  }
}

/** fetch reports a lost connection by a TypeError. */
export function onlyKilled({ child }: Service, error: Error): undefined {
  if (!(error instanceof TypeError) || !child.killed) throw error;
}
