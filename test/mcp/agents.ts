import type { TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CallOptions, Petstore } from '../support/petstore.ts';

/** The modes of the client: the newest revision of the protocol, and the last one with a handshake. */
export const revisions = {
  '2026-07-28': { pin: '2026-07-28' },
  '2025-11-25': 'legacy',
} as const;

export type Revision = keyof typeof revisions;

/** The official client, connected to `/mcp`, until the end of a test. */
export async function connectAgent(
  t: TestContext,
  origin: string,
  key: string,
  revision: Revision = '2026-07-28',
): Promise<Client> {
  const agent = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: revisions[revision] } },
  );
  const headers = { authorization: `Bearer ${key}` };
  await agent.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit: { headers } }),
  );
  t.after(() => agent.close());
  return agent;
}

export interface Result {
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read results whose shape the client has checked
  content: any;
}

/** The structured content of a call. The client checks it against the schema of the tool. */
export async function call(agent: Client, name: string, given: object = {}): Promise<Result> {
  const result = await agent.callTool({ name, arguments: given as Record<string, unknown> });
  return { isError: result.isError === true, content: result.structuredContent };
}

/** Sends a message as an HTTP request. */
export const sendMessage = (store: Petstore, message: unknown, { headers, ...options }: CallOptions = {}) =>
  store.send('POST', '/mcp', {
    body: message,
    headers: { accept: 'application/json, text/event-stream', ...headers },
    ...options,
  });
