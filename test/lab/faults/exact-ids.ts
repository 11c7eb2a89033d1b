import assert from 'node:assert/strict';
import { rowKinds } from '../../../src/db/tables.ts';
import type { Petstore } from '../../support/petstore.ts';

/** The first id of a workspace. No other number resembles it, so a stored id can be found in any text. */
const firstId = 540_000;
const smallId = /(?<![\w-])54\d{4}(?![\w-])/;

/** Makes the ids of the first workspace, which is still empty, start at `firstId`. */
export async function numberFromAfar(store: Petstore): Promise<void> {
  await store.db.write(async (sql) => {
    for (const kind of rowKinds)
      await sql`
        insert into sequences (workspace_id, kind, last_id) values (1, ${kind}, ${firstId})
        on conflict (workspace_id, kind) do update set last_id = ${firstId}`;
  });
}

/** Fails if a sent text shows a stored id, also within a cursor. */
export function assertNoSmallId(text: string): void {
  const cursors = [...text.matchAll(/cursor=([\w-]+)/g)].map(([, cursor]) =>
    Buffer.from(cursor as string, 'base64url')
      .toString()
      .replace(':', ' '),
  );
  const found = smallId.exec([text, ...cursors].join('\n'));
  assert.equal(found?.[0], undefined, `a small id is shown: ${text} ${cursors}`);
}

/** Parses JSON. Integers beyond 2^53 become bigints. */
// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any shape
export function parseExactly(text: string): any {
  return JSON.parse(text, (_name, value, { source } = {} as { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
      ? BigInt(source as string)
      : value,
  );
}

/** Serializes JSON. Bigints become integers. */
export const writeExactly = (value: unknown): string =>
  JSON.stringify(value, (_name, part) =>
    typeof part === 'bigint'
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(part))
      : part,
  );
