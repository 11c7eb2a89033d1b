import assert from 'node:assert/strict';
import { readPages } from './history.ts';
import type { JsonAnswer, Petstore } from './petstore.ts';

/** Starts a recording of a key, by default the first, and returns its path. */
export async function startRecording(petstore: Petstore, key = petstore.key, body = {}): Promise<string> {
  const answer = await petstore.send('POST', '/lab/recordings', { key, body });
  assert.equal(answer.status, 201, answer.text);
  return `/lab/recordings/${answer.body.id}`;
}

/** The requests of a recording, from all pages. */
export async function recordedIn(
  petstore: Petstore,
  recording: string,
  key = petstore.key,
  limit = 100,
): Promise<JsonAnswer['body'][]> {
  const get = (path: string) => petstore.send('GET', path, { key });
  return readPages(get, `${recording}/requests?limit=${limit}`);
}

export const recordingAt = async (petstore: Petstore, recording: string, key = petstore.key) =>
  (await petstore.send('GET', recording, { key })).body;

/** Adds copies of the only request of a recording until it has `count`. */
export const fillRecording = (petstore: Petstore, recording: string, count: number) =>
  petstore.db.write(async (sql) => {
    const id = recording.split('/').at(-1) as string;
    await sql`
      with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ${count})
      insert into recorded_requests (workspace_id, recording_id, number, at_us, took_us, fingerprint, facts)
      select workspace_id, recording_id, n, at_us + n, took_us, fingerprint, facts
      from recorded_requests, numbers where recording_id = ${id}`;
    await sql`update recordings set kept = ${count} where id = ${id}`;
  });

/** Lets no recorded request be written until the returned function is called. */
export function holdRecordings({ db }: Petstore): () => Promise<void> {
  const held = Promise.withResolvers<void>();
  const holding = db.write(async (sql) => {
    await sql`update recordings set kept = kept`;
    await held.promise;
  });
  return () => {
    held.resolve();
    return holding;
  };
}

const storedRequests = async ({ db }: Petstore) =>
  Number((await db.read`select count(*) from recorded_requests`)[0]?.[0]);

/**
 * Fills a recording, and returns how many requests were deleted in each transaction of `remove`, and whether the recording could be seen
 * after one that did not leave all of them.
 */
export async function deletionsOf(
  petstore: Petstore,
  count: number,
  remove: (recording: string) => Promise<unknown>,
) {
  const recording = await startRecording(petstore);
  await petstore.call('GET', '/pets/1');
  assert.equal((await recordedIn(petstore, recording)).length, 1);
  await fillRecording(petstore, recording, count);
  const write = petstore.db.write.bind(petstore.db);
  const deleted: number[] = [];
  let left = count;
  let wasSeen = false;
  petstore.db.write = (async (...args: Parameters<typeof write>) => {
    const result = await write(...args);
    const now = await storedRequests(petstore);
    if (now < left) {
      // Before anything is awaited, because another write may end meanwhile.
      deleted.push(left - now);
      left = now;
      wasSeen ||= (await petstore.send('GET', recording)).status === 200;
    }
    return result;
  }) as typeof write;
  await remove(recording);
  petstore.db.write = write;
  return { recording, deleted, wasSeen };
}

/** These properties of each request, as a text: `429 rate_limited`. */
export const valuesOf = (requests: readonly JsonAnswer['body'][], ...names: string[]): string[] =>
  requests.map((request) =>
    names
      .map((name) => request[name])
      .filter((value) => value !== undefined)
      .join(' '),
  );
