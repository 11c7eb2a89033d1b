import Type from 'typebox';
import type { Row } from './db/sql.ts';
import type { Fields } from './field-names.ts';

/** A part of a list ordered by id: at most `limit` items with ids above `after`. */
export interface PageRequest {
  after: number;
  limit: number;
}

/** The items of a page and, when more follow, the id to continue after. */
export interface Page<Item> {
  items: Item[];
  next?: number;
  /** Header fields of the answer, besides those of every page. */
  headers?: Fields;
}

export const defaultLimit = 20;
export const maxLimit = 100;

/** An opaque cursor after `id` in the list of one operation. 0 is before the first. */
export const writeCursor = (operationId: string, id: number | string) =>
  Buffer.from(`${operationId}:${id}`).toString('base64url');

/** What stands for the id in a cursor of this operation, or undefined if it is not one. */
export function positionIn(operationId: string, cursor: string): string | undefined {
  const position = Buffer.from(cursor, 'base64url')
    .toString()
    .slice(operationId.length + 1);
  return writeCursor(operationId, position) === cursor ? position : undefined;
}

/** What the operation of a list takes beside its filters. */
export const pageQueryOf = (operationId: string) => ({
  limit: Type.Optional(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: maxLimit,
      default: defaultLimit,
      description: 'How many items to return at most.',
      examples: [20],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'Where to continue: the `cursor` in the link with `rel="next"` of the previous page.',
      examples: [writeCursor(operationId, 1)],
    }),
  ),
});

/**
 * A page from rows that begin with their id and were read with `limit + 1`: the extra row shows that more
 * follow.
 */
export function toPage<Item>(rows: Row[], limit: number, toItem: (row: Row) => Item): Page<Item> {
  const items = rows.slice(0, limit).map(toItem);
  return rows.length > limit ? { items, next: Number(rows[limit - 1]?.[0]) } : { items };
}

/** The id in a cursor of this operation, or undefined if it is not one. */
export function readCursor(operationId: string, cursor: string): number | undefined {
  const position = positionIn(operationId, cursor);
  const id = Number(position);
  return Number.isSafeInteger(id) && id >= 0 && String(id) === position ? id : undefined;
}
