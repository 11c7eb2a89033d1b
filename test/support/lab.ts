import assert from 'node:assert/strict';
import type { PlannedFault, Rehearsal } from '../../src/lab/rehearsals/schema.ts';
import type { Answer } from './description.ts';
import type { Petstore } from './petstore.ts';

/** A fault with its parameters, or its name for the defaults. */
export type Asked = string | PlannedFault;

/** Parameters with which faults hardly wait. */
export const quickParameters: Readonly<Record<string, number | string>> = {
  delayMs: 3,
  silenceMs: 3,
  bytesPerSecond: 1_000_000,
  shape: 'past',
  streamSilenceMs: 3,
};

export async function rehearse(
  store: Petstore,
  faults: readonly Asked[],
  { key = store.key, ...options }: { key?: string; expiresInSeconds?: number } = {},
): Promise<Rehearsal> {
  const planned = faults.map((fault) => (typeof fault === 'string' ? { fault } : fault));
  const answer = await store.send('POST', '/lab/rehearsals', { key, body: { faults: planned, ...options } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const onRehearsal =
  (method: string) =>
  async (store: Petstore, id: string, key = store.key): Promise<Rehearsal> => {
    const answer = await store.send(method, `/lab/rehearsals/${id}`, { key });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
export const rehearsalOf = onRehearsal('GET');
export const endRehearsal = onRehearsal('DELETE');

/** How often each fault of a rehearsal was performed, in order. */
export async function performedOf(store: Petstore, id: string, key = store.key): Promise<number[]> {
  return (await rehearsalOf(store, id, key)).faults.map(({ performed }) => performed);
}

/** Asserts that exactly these faults touched a response. */
export function assertTouched(
  { headers, status, text }: Answer,
  { id }: Pick<Rehearsal, 'id'>,
  ...faults: string[]
): void {
  const members = faults.map((fault) => `${id}; fault=${fault}`);
  assert.equal(headers['petstore-rehearsal'], members.join(', '), `${status} ${text}`);
}

/** Asserts that no fault touched a response. */
export function assertUntouched({ headers, status, text }: Answer): void {
  assert.equal(headers['petstore-rehearsal'], undefined, `${status} ${text}`);
}

/** Adds categories to a workspace, with ids from one on. */
export const addCategories = ({ db }: Petstore, workspaceId: number, count: number, from: number) =>
  db.write(
    (sql) => sql`
      with recursive numbers (n) as (
        select ${from} + 0 union all select n + 1 from numbers where n < ${from + count - 1} + 0)
      insert into categories (workspace_id, id, name) select ${workspaceId} + 0, n, 'One' from numbers`,
  );
