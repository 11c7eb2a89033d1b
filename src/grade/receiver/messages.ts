import { randomInt } from 'node:crypto';
import { type Event, type Int64, writeExactly } from '../../client/index.ts';
import { withService } from '../../service/start/running-service.ts';
import type { GradingService } from '../grading-service.ts';

/** A message in the form in which the service sends it. */
export interface TrialMessage {
  /** `webhook-id`: the same in every attempt. */
  id: string;
  type: string;
  body: string;
}

/** The kinds of resource whose events grade a receiver, and the types of their events. */
const subjects: readonly ({ noun: string; added: Type } & Partial<Record<Role, Type>>)[] = [
  { noun: 'pet', added: 'pet.created', changed: 'pet.updated', removed: 'pet.deleted' },
  { noun: 'category', added: 'category.created', changed: 'category.updated', removed: 'category.deleted' },
  { noun: 'order', added: 'order.placed', changed: 'order.updated', removed: 'order.cancelled' },
  { noun: 'order', added: 'order.completed' },
  { noun: 'stock entry', added: 'inventory.updated', changed: 'inventory.updated' },
];
type Type = Event['type'];
export type Role = 'added' | 'changed' | 'removed';

/** The types of which a receiver must handle one. A removal alone is about things that the receiver never knew. */
export const gradedTypes = [...new Set(subjects.flatMap(({ added, changed = added }) => [added, changed]))];

/** The names of each resource, one after another. */
const names = [
  ...['Atlas, Titan', 'Comet, Encke', 'Meteor, Bolide', 'Grüße 🐉 龍, Käfer 🐞 虫', 'Rota, Ceres'],
  ...['Forged, Pallas', 'Late, Juno', 'Groom, Vesta', 'Fields, Hygiea', 'Tide, Ebb', 'Exact, Kuiper'],
  ...['Sirius, Polaris', 'Altair, Spica', 'Orion, Lyra, Vega, Cetus, Deneb, Mira, Rigel'],
].map((line) => line.split(', '));

/** The events of a new workspace in which each kind of resource was added, changed and removed. So messages have the form of real ones. */
export const trialEvents = (store: GradingService, signal: AbortSignal): Promise<Event[]> =>
  store.inWorkspace((access) =>
    withService({ ...access, signal }, async ({ store: api }) => {
      // The state may show an earlier grading. So no name and no quantity was there before.
      const tag = randomInt(2 ** 30).toString(36);
      let quantity = randomInt(10_000, 900_000);
      for (const each of names) {
        const [name = '', ...newNames] = each.map((one) => `${one} ${tag}`);
        const category = await api.createCategory({ name });
        const pet = await api.createPet({ name, categoryId: category.id });
        await api.updateInventory(pet.id, { quantity: 2 * quantity });
        const order = await api.placeOrder({ petId: pet.id, quantity });
        for (const newName of newNames) {
          await api.replaceCategory(category.id, { name: newName });
          await api.updatePet(pet.id, { name: newName });
          await api.updateOrder(order.id, { quantity: ++quantity });
        }
        await api.cancelOrder(order.id);
        const other = await api.placeOrder({ petId: pet.id, quantity });
        await api.updateOrder(other.id, { complete: true });
        await api.deletePet(pet.id);
        await api.deleteCategory(category.id);
        quantity += 100;
      }
      return Array.fromAsync(api.listEvents());
    }),
  );

/** The id of the resource. A stock entry has the id of its pet. */
const idOf = ({ data }: Event) => Number((data as { id?: Int64 }).id ?? (data as { petId?: Int64 }).petId);

type OtherEvent = { type?: string; timestamp?: string; origin?: string; data?: object };

/** The messages that grade a receiver. */
export interface TrialMessages {
  /** What the resources are. */
  noun: string;
  /** Whether there are events of this role, and the receiver handles them. */
  has(role: Role): boolean;
  /** A message about the resource with this first name. `nth`: which change of it, from 0. `other`: what differs in the event. */
  of(name: string, role?: Role, nth?: number, other?: OtherEvent): TrialMessage;
  /** A message whose JSON no library writes the same. */
  exact: TrialMessage;
}

/** Chooses the first kind of resource whose new ones the receiver handles, or else whose changes. */
export function trialMessages(events: readonly Event[], handles: (type: string) => boolean): TrialMessages {
  const graded = (['added', 'changed'] as const).flatMap((main) =>
    subjects.flatMap((subject) => (handles(subject[main] ?? '') ? [{ main, ...subject }] : [])),
  );
  if (!graded[0]) throw new Error('The receiver handles no type of event that can grade it.');
  const { main, noun, ...types } = graded[0];
  const { added, changed, removed = added } = types;
  // The last event of each resource is of this type. So these are in the order of the names.
  const ids = [...new Set(events.filter(({ type }) => type === removed).map(idOf))];
  const keys = Object.keys(events.find(({ type }) => type === added)?.data ?? {});
  const [own = '', foreign] = keys.filter((key) => /^id$|Id$/.test(key));
  // Ids after this one are new to a receiver that was graded before.
  const lastId = randomInt(2 ** 30);
  const has = (role: Role) => handles(types[role] ?? '');
  const of: TrialMessages['of'] = (name, role = main, nth = 0, { data, ...other } = {}) => {
    const resource = ids[names.findIndex(([first]) => first === name)];
    const all = events.filter((one) => one.type === types[role] && idOf(one) === resource);
    const event = all[nth + Number(role === 'changed' && changed === added)];
    if (!event) throw new Error(`The history lacks ${types[role]} of ${name}.`);
    const id = lastId + Number(event.id);
    const whole = { ...event, id, ...other, data: { ...event.data, [own]: lastId + idOf(event), ...data } };
    return { id: `evt_try_${id}`, type: whole.type, body: writeExactly(whole) };
  };
  const big = { data: { [foreign ?? own]: 2n ** 53n + 1n } };
  // If the big id can be of another resource, the event is late, so that nobody has to store it.
  const { body, ...exact } =
    foreign && has('changed') ? of('Orion', 'changed', 3, big) : of('Exact', main, 0, big);
  return { noun, has, of, exact: { ...exact, body: notCanonical(body) } };
}

/** The escaped character is a colon. */
const notCanonical = (body: string) =>
  `${body.replace(/(?<="timestamp":"[^"]*?):/, '\\u003A').replace(/(?<="data":.*"name":")/, '鯨 ')}\n`;
