import type { State } from '../history.ts';
import type { Service } from '../service.ts';
import { idOf, type Write } from './history.ts';
import { pick, type Random } from './random.ts';
import type { Store } from './store.ts';

/** The number of concurrent writers. */
export const clientCount = 32;

/** Writes to its own resources, one write after the other, and orders the shared pets. */
export class WritingClient {
  /** The write in flight when the service was killed. */
  unanswered: Write | undefined;
  /** The resource that it created or changed, if it was kept. */
  keptPath: string | undefined;
  readonly #number: number;
  readonly #store: Store;
  readonly #random: Random;
  readonly #own = new Set<string>();
  #writes = 0;

  constructor(number: number, store: Store, random: Random) {
    this.#number = number;
    this.#store = store;
    this.#random = random;
  }

  async writeUntilKilled(service: Service): Promise<void> {
    this.keptPath = undefined;
    for (;;) {
      const write = this.#nextWrite();
      this.unanswered = write;
      const answer = await this.#store.send(service, write).catch((error) => onlyKilled(service, error));
      if (!answer) return;
      this.unanswered = undefined;
      if (answer.status >= 400) {
        this.#store.counts.refused++;
        continue;
      }
      this.#store.counts.answered++;
      this.#note(write.method === 'POST' ? `${write.path}/${answer.body.id}` : write.path);
    }
  }

  /** Continues with a resource whose response did not arrive. */
  own(path: string): void {
    this.keptPath = path;
    this.#note(path);
  }

  /** Remembers resources for later changes. */
  #note(path: string): void {
    const state = this.#store.state(path);
    if (path.startsWith('/inventory/')) return;
    if (state && !state.complete) this.#own.add(path);
    else this.#own.delete(path);
  }

  #nextWrite(): Write {
    const random = this.#random;
    const name = `client-${this.#number}-write-${++this.#writes}`;
    const own = (prefix: string) => {
      const paths = [...this.#own].filter((path) => path.startsWith(prefix));
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
      post('/store/orders', this.#newOrder(), ['insufficient_stock']),
      post('/store/orders', this.#newOrder(), ['insufficient_stock']),
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
  #newOrder(): State {
    const petId = pick([...this.#store.sharedPetIds, undefined], this.#random);
    const shipDate = new Date((this.#writes * clientCount + this.#number) * 1000)
      .toISOString()
      .replace('.000', '');
    return { ...(petId && { petId }), quantity: 1 + this.#random(3), shipDate };
  }
}

/** fetch reports a lost connection by a TypeError. */
export function onlyKilled({ child }: Service, error: Error): undefined {
  if (!(error instanceof TypeError) || !child.killed) throw error;
}
