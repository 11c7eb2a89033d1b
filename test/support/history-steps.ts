import fc, { type Arbitrary } from 'fast-check';
import { operations } from '../../src/api/operations.ts';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { description } from './description.ts';
import { Earlier, validValue } from './fuzz/values.ts';
import { recordedLists } from './history.ts';

/** A request of a sequence. */
export interface Request {
  method: string;
  /** The path of its list. */
  path: string;
  /** Which resource of the list it uses, by its index among the existing ones. */
  nth?: number;
  body?: object;
  idempotencyKey?: string | undefined;
  ifMatch?: 'current' | 'other' | undefined;
}

/** A step in a workspace: one or several concurrent requests, or an operator's command. */
export type Step = { requests: Request[] } | { command: 'reset' | 'clear' | 'add pets' };

// Few values, so that a change often changes nothing, and few ids, so that requests concern the same rows.
const id = fc.constantFrom(1, 1, 2, 3);
const name = fc.constantFrom('Ash', 'Birch');
const quantity = fc.integer({ min: 1, max: 3 });
const complete = fc.constantFrom(false, false, true);
const status = fc.constantFrom('available', 'pending', 'sold');
/** The same instant twice, and another one. */
const shipDate = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00', '2026-01-02T00:00:00Z');

const some = (values: Record<string, Arbitrary<unknown>>, requiredKeys: string[] = []) =>
  fc.record(values, { requiredKeys, noNullPrototype: true });

const orNull = (value: Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: value }, fc.constant(null));

const category = some({ name, description: fc.constantFrom('', 'Tall') }, ['name']);
const pet = some({ name, categoryId: id, status }, ['name', 'categoryId']);
const order = some({ petId: id, quantity, shipDate, complete });
/** At the maximum of the stock, no unit can return. */
const stock = some({ quantity: fc.constantFrom(0, 1, 2, 3, 2_147_483_647) }, ['quantity']);
const invalid = fc.constantFrom<object>({ quantity: -1 }, { name: '' }, []);
/** A merge patch may also repeat values that cannot change. */
const orderPatch = fc.oneof(
  { weight: 7, arbitrary: some({ quantity: orNull(quantity), shipDate: orNull(shipDate), complete }) },
  some({ petId: id, complete }),
);
const petPatch = some({ name, categoryId: id, status: orNull(status) });

const post = (path: string, body: Arbitrary<object>) =>
  fc.record<Request>({
    method: fc.constant('POST'),
    path: fc.constant(path),
    body,
    idempotencyKey: fc.constantFrom(undefined, undefined, undefined, 'a', 'b'),
  });

const change = (method: string, list: string, body?: Arbitrary<object>) =>
  fc.record<Request>({
    method: fc.constant(method),
    path: fc.constant(list),
    nth: fc.nat(4),
    ...(body && { body: fc.oneof({ weight: 20, arbitrary: body }, invalid) }),
    ifMatch: fc.constantFrom(undefined, undefined, undefined, 'current', 'other'),
  });

const ownLists = ['/categories', '/pets', '/store/orders', '/inventory'];

/** Requests that are rarely refused if there is at least one pet. */
const ownRequests = [
  post('/categories', category),
  { weight: 2, arbitrary: post('/pets', pet) },
  { weight: 4, arbitrary: post('/store/orders', order) },
  change('PUT', '/categories', category),
  change('DELETE', '/categories'),
  { weight: 2, arbitrary: change('PUT', '/pets', pet) },
  { weight: 2, arbitrary: change('PATCH', '/pets', petPatch) },
  change('DELETE', '/pets'),
  { weight: 3, arbitrary: change('PATCH', '/inventory', stock) },
  { weight: 4, arbitrary: change('PATCH', '/store/orders', orderPatch) },
  { weight: 2, arbitrary: change('DELETE', '/store/orders') },
];

/** Ids that rarely exist. */
const withSmallIds = (body: object): object =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      value instanceof Earlier ? 1 + (value.nth % 3) : value,
    ]),
  );

/** Requests that change the other lists, from the description. */
const otherRequests = operations.flatMap(({ method, path }) => {
  const list = path.replace(/\/{\w+}$/, '');
  const isOther = recordedLists.some((one) => one.path === list) && !ownLists.includes(list);
  if (method === 'GET' || !isOther) return [];
  const content = description.paths[path][method.toLowerCase()].requestBody?.content ?? {};
  const [media] = Object.values<{ schema: JsonObject }>(content);
  const body = media && (validValue(media.schema) as Arbitrary<object>).map(withSmallIds);
  return [list === path && body ? post(list, body) : change(method, list, body)];
});

export const request: Arbitrary<Request> = fc.oneof(...ownRequests, ...otherRequests);

const beginning: Request[] = [
  { method: 'POST', path: '/categories', body: { name: 'Ash' } },
  { method: 'POST', path: '/pets', body: { name: 'Ash', categoryId: 1 } },
  { method: 'POST', path: '/pets', body: { name: 'Birch', categoryId: 1, status: 'sold' } },
  { method: 'PATCH', path: '/inventory', nth: 0, body: { quantity: 9 } },
];

const step: Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: request.map((request) => ({ requests: [request] })) },
  { weight: 4, arbitrary: fc.record({ requests: fc.array(request, { minLength: 2, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ command: fc.constantFrom('reset', 'clear', 'add pets') }) },
);

/** First a category and pets, without which most requests would be refused. */
export const steps: Arbitrary<Step[]> = fc
  .array(step, { minLength: 1, maxLength: 40, size: 'max' })
  .map((steps) => [...beginning.map((request) => ({ requests: [request] })), ...steps]);
