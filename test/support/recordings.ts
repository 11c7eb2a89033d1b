import assert from 'node:assert/strict';
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
  const all: JsonAnswer['body'][] = [];
  for (let path: string | undefined = `${recording}/requests?limit=${limit}`; path; ) {
    const { status, body, headers, text } = await petstore.send('GET', path, { key });
    assert.equal(status, 200, text);
    all.push(...body);
    path = /<https?:\/\/[^/]+([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
  }
  return all;
}

export const recordingAt = async (petstore: Petstore, recording: string, key = petstore.key) =>
  (await petstore.send('GET', recording, { key })).body;
