import { type TProperties, type TSchema, Type } from 'typebox';
import { entityTagsPattern, etagOf } from '../../http/etag.ts';
import { keyPattern, maxKeyLength, rememberHours } from '../../http/idempotency.ts';
import { jsonText } from '../../http/json.ts';
import type { Operation } from '../../http/operation.ts';
import { exampleResource, isConditionalRead, textHeader } from './responses.ts';
import type { Json, JsonObject, Schemas } from './schemas.ts';

/** Describes the parameters of operations. Shared parameters are components. */
export class ParameterDescriptions {
  readonly components: JsonObject = {};
  readonly #schemas: Schemas;
  readonly #headers: Record<RequestHeader, JsonObject>;

  /** `keptKeys` says how many Idempotency-Keys an API key may have. */
  constructor(schemas: Schemas, operations: readonly Operation[], keptKeys: string) {
    this.#schemas = schemas;
    this.#headers = requestHeaders(operations, keptKeys);
  }

  /** The parameters of an operation: of its path, its query and its header. */
  use(operation: Operation): Json[] {
    return [
      ...this.#properties(operation.params, 'path', operation),
      ...this.#properties(operation.query, 'query', operation),
      ...requestHeadersOf(operation).map((name) => this.#header(name, operation)),
    ];
  }

  #properties(properties: TProperties, place: 'path' | 'query', operation: Operation): Json[] {
    const { sampleParams, success } = operation;
    return Object.entries(properties).map(([name, schema]) => {
      const own = place === 'path' ? sampleParams?.[name] : undefined;
      const { description, examples, ...rest } = schema as Described;
      const example = own ?? examples?.[0];
      // Its example stands on the parameter, where every tool looks for it.
      const { example: _, examples: __, ...shown } = this.#schemas.use(rest.title ? schema : rest);
      const parameter: JsonObject = {
        name,
        in: place,
        required: !Type.IsOptional(schema),
        description,
        schema: shown,
        ...(example !== undefined && { example }),
      };
      // Filters and cursors differ between operations.
      const isShared = place === 'path' ? own === undefined : success.kind === 'page' && name === 'limit';
      return isShared ? this.#component(name, parameter) : parameter;
    });
  }

  /**
   * Header parameters are shared, except Idempotency-Key: Postman generates one value for all parameters with equal schemas, and two
   * operations must not share a key. So its schema names the operation.
   */
  #header(name: RequestHeader, { id }: Operation): Json {
    const parameter: JsonObject = { name, in: 'header', required: false, ...this.#headers[name] };
    if (name !== 'Idempotency-Key') return this.#component(name.replaceAll('-', ''), parameter);
    return { ...parameter, schema: { ...(parameter.schema as JsonObject), 'x-operation': id } };
  }

  #component(name: string, parameter: JsonObject): JsonObject {
    this.components[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  }
}

const withPattern = (description: string, pattern: string, example?: string): JsonObject => ({
  description,
  schema: { type: 'string', pattern },
  ...(example !== undefined && { example }),
});

type Described = TSchema & { description: string; title?: string; examples?: Json[] };

type RequestHeader = 'If-Match' | 'If-None-Match' | 'Idempotency-Key' | 'Last-Event-ID' | 'X-Request-Id';

/**
 * The request headers by name. Many tools send the examples, so these must be harmless: `*` matches every state, the tag matches no state
 * of the example resource, and Idempotency-Key has no example, because a shared key is refused.
 */
const requestHeaders = (
  operations: readonly Operation[],
  keptKeys: string,
): Record<RequestHeader, JsonObject> => ({
  'If-Match': withPattern(
    'Changes the resource only if its current ETag is among these, or if the value is `*`. Otherwise the response is 412.',
    entityTagsPattern,
    '*',
  ),
  'If-None-Match': withPattern(
    'If the current ETag is among these, or if the value is `*`, a read returns 304 and a change returns 412.',
    entityTagsPattern,
    etagOf(jsonText({ ...exampleResource(operations), status: 'pending' })),
  ),
  'Idempotency-Key': withPattern(
    `Makes a retry safe: for ${rememberHours} hours the same \`Idempotency-Key\` with the same body returns the first response again. It belongs to the API key that sends it. Use a new one for each request, such as a UUID: at most ${maxKeyLength} characters, bare or in double quotes. A request that gets an error does not use it up. The service stores a limited number for each API key: ${keptKeys}. Above this number, a new \`Idempotency-Key\` gets 409 \`conflict\`.`,
    keyPattern,
  ),
  'Last-Event-ID': {
    description: 'The `id` of the last event that you received, or 0. The stream continues after it.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    example: 0,
  },
  'X-Request-Id': textHeader(
    'An id for this request: 1 to 128 visible ASCII characters. The response has the same id. If the value is invalid, the service ignores it and creates an id.',
    'walk-1',
  ),
});

function requestHeadersOf(operation: Operation): RequestHeader[] {
  const { method, success } = operation;
  const isChange = method === 'PUT' || method === 'PATCH' || method === 'DELETE';
  return [
    ...(isChange ? (['If-Match'] as const) : []),
    ...(isChange || isConditionalRead(operation) ? (['If-None-Match'] as const) : []),
    ...(method === 'POST' ? (['Idempotency-Key'] as const) : []),
    ...(success.kind === 'stream' ? (['Last-Event-ID'] as const) : []),
    'X-Request-Id',
  ];
}
