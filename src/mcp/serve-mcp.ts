import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/keys/store.ts';
import { type Admission, admit } from '../api/admission.ts';
import { ApiError } from '../foundation/errors.ts';
import { memoize } from '../foundation/promises.ts';
import { quote } from '../foundation/redact.ts';
import { pauseOfCostlyMs } from '../http/fair-share.ts';
import { assertContentType } from '../http/input.ts';
import { parseJson } from '../http/json.ts';
import { mcpPath } from '../http/target.ts';
import { labQuota } from '../lab/lab-bounds.ts';
import type { AgentText } from './server.ts';

interface McpSettings {
  baseUrl: string;
  hasLab: boolean;
  admission: Admission;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** What agents may read. */
  texts: () => Promise<readonly AgentText[]>;
}

/** Messages have their own limits, since requests of tools count already. They are wide: those of the key apply first. */
export const mcpAccount: Admission['accountOf'] = ({ workspaceId, keyId, quota }) => {
  const perMinute = Math.max(labQuota.perMinute, 4 * quota.perMinute);
  return {
    subject: { workspaceId, id: `mcp ${keyId}` },
    policy: { quota: { perMinute, perDay: perMinute * 24 * 60 } },
  };
};

/** The values of a message, since the SDK checks each of them. A tool takes 100 ids. */
const maxMessageValues = 250;
/** A response repeats the id of its message, as JSON. */
const maxIdBytes = 200;

/** Serves the Model Context Protocol. The SDK is loaded at the first message. */
export function serveMcp(app: FastifyInstance, settings: McpSettings): void {
  const { baseUrl, hasLab, admission, clock, texts } = settings;
  const mayAsk = originCheck(baseUrl);
  const answerer = memoize(async () =>
    (await import('./server.ts')).answerer({ app, baseUrl, hasLab, clock, texts: await texts() }),
  );

  app.post(mcpPath, {
    onRequest: async (request, reply) => {
      const { origin } = request.headers;
      const isForeign = origin !== undefined && !mayAsk(origin);
      try {
        // First, so that refusals count, too.
        await admit(admission, request);
      } catch (refusal) {
        if (!isForeign || !(refusal instanceof ApiError) || refusal.code !== 'unauthorized') throw refusal;
      }
      if (isForeign)
        return send(reply, errorAnswer(403, -32_000, `Web pages of ${quote(origin)} may not send messages.`));
    },
    handler: async (request, reply) => {
      const { keyId } = request.caller as Caller;
      await app.fairShare.enter(keyId, reply.raw, pauseOfCostlyMs);
      const message = messageOf(request);
      if (message instanceof Response) return send(reply, message);
      const answer = await (await answerer())({ request, reply }, message);
      // A fault may have cut the connection.
      if (reply.raw.destroyed) return reply.hijack();
      return send(reply, answer, (text) => app.fairShare.countUnread(keyId, reply.raw, text));
    },
  });
}

/** The message in a request, or the error response if there is none. */
function messageOf(request: FastifyRequest): unknown {
  assertContentType(request, ['application/json']);
  let message: unknown;
  try {
    message = parseJson((request.body as Buffer | undefined) ?? new Uint8Array(), maxMessageValues);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_json') throw error;
    return errorAnswer(400, -32_700, error.message);
  }
  if (Array.isArray(message))
    return errorAnswer(400, -32_600, 'Send one message per request. The protocol no longer has batches.');
  const { id } = (message ?? {}) as { id?: unknown };
  if (typeof id === 'string' && Buffer.byteLength(JSON.stringify(id)) > maxIdBytes)
    return errorAnswer(400, -32_600, `The id of a message must not exceed ${maxIdBytes} bytes as JSON.`);
  return message;
}

/**
 * Whether pages of an origin may send messages. Only pages of this service and of the local machine may. Other pages could use DNS
 * rebinding to reach a service in the network of their visitor. Programs send no Origin.
 */
function originCheck(baseUrl: string): (origin: string) => boolean {
  const hosts = [new URL(baseUrl).hostname, 'localhost', '127.0.0.1', '[::1]'];
  return (origin) => URL.canParse(origin) && hosts.includes(new URL(origin).hostname);
}

const errorAnswer = (status: number, code: number, message: string) =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });

/** Sends a response whose body is whole. */
async function send(reply: FastifyReply, answer: Response, wrote?: (text: string) => void) {
  const type = answer.headers.get('content-type');
  if (type) reply.type(type);
  const text = await answer.text();
  wrote?.(text);
  reply.headers(reply.request.limitHeaders ?? {});
  return reply.code(answer.status).send(text && !text.endsWith('\n') ? `${text}\n` : text || undefined);
}
