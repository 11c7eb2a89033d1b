import { Type } from 'typebox';
import type { Row } from '../db/sql.ts';
import type { Fields } from '../foundation/field-names.ts';
import { onlyDescribed, toInt64 } from '../foundation/schema.ts';

/** A part of a list ordered by id: at most `limit` items with ids above `after`. */
export interface PageRequest {
  after: number;
  limit: number;
}

/** The items of a page and, when more follow, the id to continue after. */
export interface Page<Item> {
  items: Item[];
  next?: number;
  /** Additional headers of the response. */
  headers?: Fields;
}

export const defaultLimit = 20;
export const maxLimit = 100;
/** The bytes of the texts on one page. One item always fits. */
export const maxPageBytes = 50_000;

/** How many items of a page fit: long texts end a page early, so that no page takes much longer. `sizes`: the bytes of the items. */
export async function fittingLimit(limit: number, sizes: () => Promise<Row[]>): Promise<number> {
  if (limit === 1) return limit;
  let left = maxPageBytes;
  const end = (await sizes()).findIndex(([bytes]) => {
    left -= Number(bytes);
    return left < 0;
  });
  return end === -1 ? limit : Math.max(end, 1);
}

/** An opaque cursor after `id` in the list of one operation. 0 is before the first. */
export const writeCursor = (operationId: string, id: number | string) =>
  Buffer.from(`${operationId}:${id}`).toString('base64url');

/** The part of a cursor after the colon, for any operation. */
export const numberIn = (cursor: string) => Buffer.from(cursor, 'base64url').toString().replace(/^.*:/s, '');

/** The id in a cursor of this operation. Undefined if the cursor is not one of this operation. */
export function positionIn(operationId: string, cursor: string): string | undefined {
  const position = Buffer.from(cursor, 'base64url')
    .toString()
    .slice(operationId.length + 1);
  return writeCursor(operationId, position) === cursor ? position : undefined;
}

/** How base64url writes the bytes of digits, by their place in a group of three: the first takes two characters. */
const [first, firstAndLast, second, third] = [
  '[MN][DTjz]|O[DT]',
  '[MN][AQgw]|O[AQ]',
  '[AEIMQUYcgk]',
  '[w-z0-5]',
];
const [firstNotZero, firstAndLastNotZero, secondNotZero, thirdNotZero] = [
  'M[Tjz]|N[DTjz]|O[DT]',
  'M[Qgw]|N[AQgw]|O[AQ]',
  '[EIMQUYcgk]',
  '[x-z0-5]',
];
/** The maximum number of digits of a number in a cursor. Every such number is a 64-bit integer. */
const maxDigits = 18;
const numberForm = new RegExp(`^(?:0|[1-9]\\d{0,${maxDigits - 1}})$`);

/** The form of the cursors of an operation: base64url of its id, a colon, and a number of at most 18 digits. */
function cursorForm(operationId: string) {
  const start = `${operationId}:`;
  const place = start.length % 3;
  const known = writeCursor(operationId, 0).slice(0, Math.ceil((start.length * 4) / 3));
  const groups = `(?:(?:${first})${second}${third})*(?:(?:${first})${second}|${firstAndLast})?`;
  const number = [
    `MA|(?:${firstAndLastNotZero})|(?:${firstNotZero})${second}(?:${third}${groups})?`,
    `A|${secondNotZero}(?:${third}${groups})?`,
    `w|${thirdNotZero}${groups}`,
  ][place];
  const maxLength = writeCursor(operationId, '9'.repeat(maxDigits)).length;
  return { maxLength, pattern: `^${known}(?:${number})$` };
}

/** The query parameters of a list, except its filters. */
export const pageQueryOf = (operationId: string) => {
  const { pattern, maxLength } = cursorForm(operationId);
  return {
    limit: Type.Optional(
      Type.Integer({
        format: 'int32',
        minimum: 1,
        maximum: maxLimit,
        default: defaultLimit,
        description: 'Maximum number of items to return.',
        examples: [20],
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        description: 'Where to continue: the `cursor` in the link with `rel="next"` of the previous page.',
        examples: [writeCursor(operationId, 1)],
        ...onlyDescribed({ pattern, maxLength }),
      }),
    ),
  };
};

/** A page from rows that begin with their id and were read with `limit + 1`: the extra row shows that more follow. */
export function toPage<Item>(rows: Row[], limit: number, toItem: (row: Row) => Item): Page<Item> {
  const items = rows.slice(0, limit).map(toItem);
  return rows.length > limit ? { items, next: Number(rows[limit - 1]?.[0]) } : { items };
}

/** The id in a cursor of this operation, or undefined if it is not one. */
export function readCursor(operationId: string, cursor: string): number | undefined {
  const position = positionIn(operationId, cursor) ?? '';
  return numberForm.test(position) ? toInt64(position) : undefined;
}
