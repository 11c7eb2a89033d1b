import { isId } from '../../../schema.ts';
import { fault } from '../fault.ts';
import { concerns, effectOf, type World } from '../world.ts';

/**
 * Ids that are shown are odd and lie between 2^53 and 2^54, where a double holds even integers alone: who reads one as a double
 * sends an even one back, which is nobody's.
 */
const base = 10n ** 16n;
const end = 2n ** 54n;

/** An id, written as digits, as the client sees it. One that no row can have stays as it is. */
export function shownId(id: string): string {
  if (!/^(0|[1-9]\d{0,15})$/.test(id)) return id;
  const shown = base + 2n * BigInt(id) + 1n;
  return shown < end ? String(shown) : id;
}

/** The id that a client means: also a small one, from before the rehearsal. */
export function meantId(id: string): string {
  if (!/^1\d{16}$/.test(id)) return id;
  const shown = BigInt(id);
  return shown % 2n === 1n && shown < end ? String((shown - base - 1n) / 2n) : id;
}

/** A text that a client wrote, with the ids that it means by those that it was shown. */
export const withMeantIds = (text: string): string => text.replaceAll(/(?<!\d)1\d{16}(?!\d)/g, meantId);

/** Whether an id is one that was shown, and then rounded: the even ones among them are nobody's. */
export const isRoundedId = (id: string): boolean =>
  /^1\d{16}$/.test(id) && BigInt(id) % 2n === 0n && BigInt(id) <= end;

const world: World = {
  mark: 'L',
  shown: (text, schema) => (isId(schema) ? shownId(text) : text),
  meant: (text, schema) => (isId(schema) ? meantId(text) : text),
  isSpoiled: (text, schema) => isId(schema) && isRoundedId(text),
  added: () => '',
};

export const largeIds = fault({
  name: 'large-ids',
  parameters: {},
  isCondition: true,
  isForAll: true,
  fits: (operation) => concerns(operation, isId),
  group: 'Values',
  level: 'required',
  does: "Every id is shown beyond 2^53 and understood so in return: in bodies, paths, queries, cursors, header fields, messages and events. What deliveries carry to webhooks stays as it is. An id that was rounded is nobody's, and its answer is marked: 404 in a path, 400 in a body, nothing in a filter. Holds for all operations alike.",
  goodClient: 'Keeps ids exact: as 64-bit integers, as text, or by a parser that does not round.',
  bites:
    'Parsers that read numbers as doubles round such ids: a client then asks for another row, or for none.',
  perform: (performance) => effectOf(world, performance),
});
