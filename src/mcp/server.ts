import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import type { FastifyInstance } from 'fastify';
import { type TProperties, type TSchema, Type } from 'typebox';
import { maxRefusalBytes, shortMessage } from '../foundation/errors.ts';
import { quote } from '../foundation/redact.ts';
import { isId } from '../foundation/schema.ts';
import { version } from '../foundation/version.ts';
import type { Exchange } from '../http/inject-fetch.ts';
import { mcpPath } from '../http/target.ts';
import { callable, callTool, clientsFor } from './call-tool.ts';
import { annotationsOf, costOf, ToolFailure, toolsFor } from './tools.ts';

/** A text that agents may read. */
export interface AgentText {
  uri: string;
  name: string;
  description: string;
  text: string;
}

interface Agents {
  app: FastifyInstance;
  /** Where callers find the API. */
  baseUrl: string;
  hasLab: boolean;
  /** Milliseconds since 1970. */
  clock: () => number;
  texts: readonly AgentText[];
}

const instructions =
  'A demo pet store: categories, pets, their stock, orders, and a history of all changes. A failed call returns a code and a message with the reason. If it has retryAfterSeconds, wait that long, then send the same call again. If you get no result, send the same call again with the same idempotencyKey. Ids above 2^53 are strings of digits: send them back unchanged.';

/** Handles messages of the Model Context Protocol. Nothing is kept between two messages, so each has its own server. */
export function answerer({ app, baseUrl, hasLab, clock, texts }: Agents) {
  const tools = toolsFor(hasLab).map(callable);
  const listed = tools.map((tool) => ({
    name: tool.name,
    title: tool.title,
    description: `${tool.description} ${costOf(tool)}`,
    inputSchema: {
      type: 'object' as const,
      ...toJsonSchema(Type.Object(tool.arguments, { additionalProperties: false })),
    },
    outputSchema: { type: 'object' as const, anyOf: [toJsonSchema(tool.result), toJsonSchema(ToolFailure)] },
    annotations: annotationsOf(tool),
  }));
  const resources = texts.map(({ text: _, ...shown }) => ({ ...shown, mimeType: 'text/markdown' }));

  return async (caller: Exchange, message: unknown): Promise<Response> => {
    const clientOf = clientsFor(app, baseUrl, clock, caller);
    let failure: unknown;
    const handler = createMcpHandler(
      () => {
        const server = new Server(
          { name: 'petstore', title: 'Petstore', version },
          { capabilities: { tools: {}, resources: {} }, instructions },
        );
        server.setRequestHandler('tools/list', () => ({ tools: listed }));
        server.setRequestHandler('resources/list', () => ({ resources }));
        server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
        server.setRequestHandler('resources/read', ({ params: { uri } }) => {
          const found = texts.find((text) => text.uri === uri);
          if (!found) throw new ResourceNotFoundError(uri);
          return { contents: [{ uri, mimeType: 'text/markdown', text: found.text }] };
        });
        server.setRequestHandler('tools/call', async ({ params }) => {
          const tool = tools.find(({ name }) => name === params.name);
          if (!tool) {
            const known = tools.map(({ name }) => name).join(', ');
            const message = `There is no tool ${quote(params.name)}. The tools are ${known}.`;
            throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
          }
          try {
            const given = params.arguments ?? {};
            const { isError, content } = await callTool(tool, given, clientOf(tool.start), clock);
            const text = JSON.stringify(content);
            return { content: [{ type: 'text', text }], structuredContent: content, isError };
          } catch (error) {
            failure = error;
            throw error;
          }
        });
        return server;
      },
      // No response is a stream that stays open, because the lists never change.
      { keepAliveMs: 0 },
    );
    const response = await handler.fetch(requestOf(caller), { parsedBody: message });
    const text = await response.text();
    if (failure) throw failure;
    return new Response(withShortError(text) || null, response);
  };
}

/** The SDK quotes what a caller sent, and everything that its validator finds wrong. */
function withShortError(text: string): string {
  const [start, end] = [text.indexOf('{"jsonrpc"'), text.lastIndexOf('}') + 1];
  if (text.length <= maxRefusalBytes || start === -1) return text;
  const { error, ...others } = JSON.parse(text.slice(start, end));
  if (!error) return text;
  const short = { code: error.code, message: shortMessage(error.message) };
  return text.slice(0, start) + JSON.stringify({ ...others, error: short }) + text.slice(end);
}

/** A request in the form that the SDK reads. Its message is cancelled when the client disconnects. */
function requestOf({ request, reply }: Exchange): Request {
  const left = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort();
  });
  const headers = Object.entries(request.headers)
    .filter(([name]) => /^(?:accept|content-type|mcp-.*)$/.test(name))
    .map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(`http://localhost${mcpPath}`, { method: 'POST', headers, signal: left.signal });
}

const digits = '^(0|-?[1-9][0-9]*)$';

interface SchemaParts {
  description?: string;
  items?: TSchema;
  properties?: TProperties;
}

/** A schema as JSON Schema. Ids may be strings, since few programs read integers beyond 2^53 exactly. */
function toJsonSchema(schema: TSchema): Record<string, unknown> {
  const { items, properties, ...given } = schema as SchemaParts;
  // Only a query repeats parameters.
  const description = given.description?.replace(/ Repeat the parameter .*$/, '');
  const same = { ...given, ...(description && { description }) };
  if (isId(schema)) return { ...same, type: ['integer', 'string'], format: undefined, pattern: digits };
  return {
    ...same,
    ...(items && { items: toJsonSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, toJsonSchema(property)]),
      ),
    }),
  };
}
