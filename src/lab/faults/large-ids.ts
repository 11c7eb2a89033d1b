import { isId } from '../../foundation/schema.ts';
import { fault } from './shared/fault.ts';
import { handlesValues, ofValues, rewriteValues, type ValueRewriter } from './shared/value-rewriter.ts';

/** Large ids are odd and above 2^53, where a double holds only even integers. So a rounded one is even, and is no id. */
const base = 10n ** 16n;
const end = 2n ** 54n;

/** Translates the digits of an id to a large id. Digits that no row can have stay as they are. */
export function toLargeId(id: string): string {
  if (!/^(0|[1-9]\d{0,15})$/.test(id)) return id;
  const shown = base + 2n * BigInt(id) + 1n;
  return shown < end ? String(shown) : id;
}

/** Translates a large id back. Other ids stay as they are: a client may know them from before the rehearsal. */
export function fromLargeId(id: string): string {
  if (!/^1\d{16}$/.test(id)) return id;
  const shown = BigInt(id);
  return shown % 2n === 1n && shown < end ? String((shown - base - 1n) / 2n) : id;
}

/** Translates all large ids in a text back. */
export const replaceLargeIds = (text: string): string =>
  text.replaceAll(/(?<!\d)1\d{16}(?!\d)/g, fromLargeId);

/** Whether an id looks like a large id that was rounded to a double: it is even. */
const isRoundedId = (id: string): boolean =>
  /^1\d{16}$/.test(id) && BigInt(id) % 2n === 0n && BigInt(id) <= end;

const rewriter: ValueRewriter = {
  etagMark: 'L',
  toClient: (text, schema) => (isId(schema) ? toLargeId(text) : text),
  fromClient: (text, schema) => (isId(schema) ? fromLargeId(text) : text),
  isDamaged: (text, schema) => isId(schema) && isRoundedId(text),
};

export const largeIds = fault({
  name: 'large-ids',
  isQuick: true,
  ...ofValues,
  shows: 'other ids',
  fits: (operation, api) => handlesValues(operation, api, isId),
  level: 'recommended',
  does: 'Shows every id as a number above 2^53, and accepts such ids: in bodies, paths, queries, cursors, headers, messages and events. Webhook deliveries do not change. A rounded id does not exist: it gets 404 in a path, 400 in a body, and an empty list as a filter. Applies to all operations.',
  goodClient:
    'Keeps ids exact: as 64-bit integers, as strings, or with a parser that does not round. If it cannot, it reports the id instead of using another one.',
  whyItMatters:
    'Parsers that read numbers as doubles round such ids. The client then requests another resource, or one that does not exist.',
  perform: (invocation) => rewriteValues(rewriter, invocation),
});
