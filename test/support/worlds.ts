import assert from 'node:assert/strict';
import { kinds } from '../../src/db/tables.ts';
import type { Petstore } from './petstore.ts';

/** Ids of a workspace begin here, so that one that is shown as it is kept is found in any text. */
const firstId = 540_000;
const smallId = /(?<![\w-])54\d{4}(?![\w-])/;

/** Lets the ids of the first workspace, which holds nothing yet, begin at a number that is nothing else. */
export async function numberFromAfar(store: Petstore): Promise<void> {
  await store.db.write(async (sql) => {
    for (const kind of kinds)
      await sql`
        insert into sequences (workspace_id, kind, last_id) values (1, ${kind}, ${firstId})
        on conflict (workspace_id, kind) do update set last_id = ${firstId}`;
  });
}

/** Fails if something that was sent shows an id as it is kept, also within a cursor. */
export function assertNoSmallId(text: string): void {
  const cursors = [...text.matchAll(/cursor=([\w-]+)/g)].map(([, cursor]) =>
    Buffer.from(cursor as string, 'base64url')
      .toString()
      .replace(':', ' '),
  );
  const found = smallId.exec([text, ...cursors].join('\n'));
  assert.equal(found?.[0], undefined, `a small id is shown: ${text} ${cursors}`);
}

/** JSON with integers beyond 2^53 as they are written. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
export function exactly(text: string): any {
  return JSON.parse(text, (_name, value, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
      ? BigInt(context?.source as string)
      : value,
  );
}

/** JSON of a value with integers beyond 2^53. */
export const exactText = (value: unknown): string =>
  JSON.stringify(value, (_name, part) =>
    typeof part === 'bigint'
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(part))
      : part,
  );
