import { type Agent, type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Answer } from './description.ts';

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array | undefined;
  /** Default: a connection of its own. */
  agent?: Agent | undefined;
  /** The time limit of a response. Default: none. */
  limitMs?: number | undefined;
  /** Reads the body. */
  read?: (response: IncomingMessage) => Promise<string>;
}

/** Sends a request exactly once: unlike `fetch`, `node:http` never repeats one. Rejects if the connection breaks. */
export function requestOnce(
  url: string,
  { method = 'GET', headers = {}, body, agent, limitMs, read = readText }: Sent = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const signal = limitMs === undefined ? {} : { signal: AbortSignal.timeout(limitMs) };
  const options = { method, headers: { ...headers, ...length }, agent: agent ?? false, family: 4, ...signal };
  request(url, options, (response) => {
    const { statusCode: status = 0, headers } = response;
    const answer = (text: string) => resolve({ status, headers: headers as Record<string, string>, text });
    read(response).then(answer, reject);
  })
    .on('error', reject)
    .end(body);
  return promise;
}
