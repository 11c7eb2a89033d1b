import { type Static, type TSchema, Type } from 'typebox';
import type { Fields } from '../foundation/field-names.ts';
import type { Page } from './pagination.ts';

// What an operation returns: its declaration, what the handler returns for it, and the response before it is written.

/** A successful response; `Result` is what the handler returns for it. */
export interface Success<Result> {
  kind: 'resource' | 'created' | 'untagged' | 'page' | 'empty' | 'text' | 'stream';
  status: 200 | 201 | 202 | 204;
  description: string;
  schema?: TSchema;
  /** Of a stream: the schema of each event. */
  event?: TSchema;
  /** The media type of a text. */
  mediaType?: string;
  /** Headers that the handler adds, by their names in the description. */
  headers?: readonly 'Last-Event-ID'[];
  /** What a GET returns, if the result contains more. The ETag is computed from it. */
  representationOf?(result: Result): unknown;
  /** For a page: the query parameter for ids. With one value, the ETag is that of the resource. */
  singleBy?: string;
}

/** Whether a request reads one resource by its id. Then the ETag of the page is that of the resource. */
export const isSingleRead = (
  { singleBy }: Pick<Success<unknown>, 'singleBy'>,
  query: Readonly<Record<string, unknown>>,
): boolean => singleBy !== undefined && (query[singleBy] as unknown[] | undefined)?.length === 1;

/** A representation whose JSON text was made beforehand, with its entity tag. */
export class Rendered {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** Of a page: the id after which more follows. */
  readonly next: number | undefined;

  constructor({ bytes, etag, next }: Pick<Rendered, 'bytes' | 'etag'> & { next?: number }) {
    this.bytes = bytes;
    this.etag = etag;
    this.next = next;
  }
}

/** 200 with one resource and its ETag. */
export function resource<S extends TSchema>(
  schema: S,
  description: string,
  representationOf?: (result: Static<S>) => unknown,
): Success<Static<S>> {
  const own = representationOf && { representationOf };
  return { kind: 'resource', status: 200, description, schema, ...own };
}

/** 201 with the new resource, its ETag and its Location: the path of the operation, and the `id`. */
export function created<S extends TSchema>(
  schema: S,
  description: string,
  representationOf?: (result: Static<S>) => unknown,
): Success<Static<S>> {
  const own = representationOf && { representationOf };
  return { kind: 'created', status: 201, description, schema, ...own };
}

/** A JSON object without ETag and Location. */
export function untagged<S extends TSchema>(
  status: 200 | 201 | 202,
  schema: S,
  description: string,
): Success<Static<S>> {
  return { kind: 'untagged', status, description, schema };
}

/** 200 with an array in the order of ids, its ETag, and a Link if more follow. Adds `limit` and `cursor` to the query. */
export function page<Item>(
  schema: TSchema & { '~item'?: Item },
  description: string,
  options: Pick<Success<Page<Item>>, 'headers' | 'singleBy'> = {},
): Success<Page<Item>> {
  return { kind: 'page', status: 200, description, schema, ...options };
}

/** 204 without a body. */
export function empty(description: string): Success<void> {
  return { kind: 'empty', status: 204, description };
}

/** 200 with a text of some media type and its ETag. The handler returns the text. */
export function text(mediaType: string, description: string, example: string): Success<string> {
  const schema = Type.String({ description, examples: [example] });
  return { kind: 'text', status: 200, description, schema, mediaType };
}

/** Which events a stream sends: those after an id, of some types or of all. */
export interface StreamStart {
  after: number;
  types: readonly string[] | undefined;
}

/** 200 with events as they happen (`text/event-stream`). Takes `Last-Event-ID`. */
export function stream(event: TSchema, description: string, example: string): Success<StreamStart> {
  const schema = Type.String({ description: 'Server-sent events.', examples: [example] });
  return { kind: 'stream', status: 200, description, schema, event, headers: ['Last-Event-ID'] };
}

/** A response before it is written to the wire. */
export interface OperationResponse {
  status: number;
  headers: Fields;
  /** JSON text, unless `type` says otherwise. */
  body?: string;
  /** The same as bytes, instead of `body`. */
  bytes?: Uint8Array;
  /** The media type of the body, if it is not JSON. */
  type?: string;
  /** As if from a gateway: without the headers of a deprecated operation. */
  isOfGateway?: true;
  /** Sends the body behind the written head instead of the service: in pieces, in part, or not at all. */
  deliver?(body: Buffer): void;
}
