import fc, { type Arbitrary } from 'fast-check';
import { operations } from '../../src/api/operations.ts';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { description, resolve, writableIn } from './description.ts';
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

/** A command of an operator. */
export type Command = 'reset' | 'clear' | 'add pets';

/** A step in a workspace: one or several concurrent requests, or a command. */
export type HistoryStep = { requests: Request[] } | { command: Command };

/** Values of a schema. Few, so that a change often changes nothing, and few ids, so that requests concern the same rows. */
function fewValues(reference: JsonObject): Arbitrary<unknown> {
  const { nullable, ...schema } = resolve(reference);
  if (nullable) return fc.oneof({ weight: 3, arbitrary: fewValues(schema) }, fc.constant(null));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object': {
      const properties = writableIn(schema).map(([name, property]) => [name, fewValues(property)]);
      const requiredKeys = (schema.required ?? []) as string[];
      return fc.record<Record<string, unknown>>(Object.fromEntries(properties), {
        requiredKeys,
        noNullPrototype: true,
      });
    }
    case 'array':
      return fc.array(fewValues(schema.items as JsonObject), { minLength: 1, maxLength: 2 });
    case 'boolean':
      return fc.constantFrom(false, false, true);
    case 'integer': {
      if (schema.format === 'int64') return fc.constantFrom(1, 1, 2, 3);
      const { minimum, maximum } = schema as { minimum: number; maximum: number };
      // At the maximum of the stock, no unit can return.
      return fc.constantFrom(minimum, 1, 2, 3, 3, 2, 1, maximum);
    }
    default:
      // The same instant twice, and another one.
      return schema.format === 'date-time'
        ? fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00', '2026-01-02T00:00:00Z')
        : fc.constantFrom('Ash', 'Birch');
  }
}

const invalid = fc.constantFrom<object>({ quantity: -1 }, { name: '' }, []);

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

/** Requests that need others before them, or have more consequences. */
const weights: Record<string, number> = {
  createPet: 2,
  updatePet: 2,
  updateInventory: 3,
  placeOrder: 6,
  updateOrder: 8,
};

/** Requests that change recorded lists, from the description. */
export const request: Arbitrary<Request> = fc.oneof(
  ...operations.flatMap(({ id, method, path }) => {
    const list = path.replace(/\/{\w+}$/, '');
    if (method === 'GET' || !recordedLists.some((one) => one.path === list)) return [];
    const content = description.paths[path][method.toLowerCase()].requestBody?.content ?? {};
    const [media] = Object.values<{ schema: JsonObject }>(content);
    const body = media && (fewValues(media.schema) as Arbitrary<object>);
    const arbitrary = list === path && body ? post(list, body) : change(method, list, body);
    return [{ weight: weights[id] ?? 1, arbitrary }];
  }),
);

const beginning: Request[] = [
  { method: 'POST', path: '/categories', body: { name: 'Ash' } },
  { method: 'POST', path: '/pets', body: { name: 'Ash', categoryId: 1 } },
  { method: 'POST', path: '/pets', body: { name: 'Birch', categoryId: 1, status: 'sold' } },
  { method: 'PATCH', path: '/inventory', nth: 0, body: { quantity: 9 } },
];

const step: Arbitrary<HistoryStep> = fc.oneof(
  { weight: 30, arbitrary: request.map((request) => ({ requests: [request] })) },
  { weight: 4, arbitrary: fc.record({ requests: fc.array(request, { minLength: 2, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ command: fc.constantFrom<Command>('reset', 'clear', 'add pets') }) },
);

/** First a category and pets, without which most requests would be refused. */
export const steps: Arbitrary<HistoryStep[]> = fc
  .array(step, { minLength: 1, maxLength: 40, size: 'max' })
  .map((steps) => [...beginning.map((request) => ({ requests: [request] })), ...steps]);
