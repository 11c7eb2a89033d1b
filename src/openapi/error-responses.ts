import { type ErrorCode, errorCodes } from '../errors.ts';
import { reasonPhrase } from '../http/reason-phrase.ts';
import type { Operation } from '../operation.ts';
import { ErrorBody } from '../schema.ts';
import { errorHeaders, refs } from './headers.ts';
import type { JsonObject, Schemas } from './schemas.ts';

/** Answers to requests that fail before their operation is known. */
const unreadStatuses = [408, 431];

/**
 * The error responses of operations: a component for each set of codes that an operation answers with one status, named
 * after the codes. Deprecated operations have more headers, and responses of their own.
 */
export class ErrorResponses {
  readonly components: JsonObject = {};
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** The error responses of an operation, by their statuses. */
  use(operation: Operation): JsonObject {
    const responses = [...codesByStatus(operation.errors)].map(([status, codes]) => {
      const tellsLifecycle = operation.deprecated && !unreadStatuses.includes(status);
      return [status, tellsLifecycle ? this.#describe(status, codes, operation) : this.#use(status, codes)];
    });
    return Object.fromEntries(responses);
  }

  #use(status: number, codes: ErrorCode[]): JsonObject {
    const name = codes.map(inPascalCase).join('Or');
    this.components[name] ??= this.#describe(status, codes);
    return { $ref: `#/components/responses/${name}` };
  }

  /** The guide on errors says when each code is sent, and examples say it here; a description would repeat it everywhere. */
  #describe(status: number, codes: ErrorCode[], operation?: Operation): JsonObject {
    const examples = codes.map((code) => [code, { value: { code, message: errorCodes[code][1], status } }]);
    return {
      description: `${reasonPhrase(status)}.`,
      headers: refs(errorHeaders(status, operation)),
      content: {
        'application/json': { schema: this.#schemas.use(ErrorBody), examples: Object.fromEntries(examples) },
      },
    };
  }
}

/** In the order in which the codes are declared, whatever the order of an operation. */
const codesByStatus = (errors: readonly ErrorCode[]): Map<number, ErrorCode[]> =>
  Map.groupBy(
    (Object.keys(errorCodes) as ErrorCode[]).filter((code) => errors.includes(code)),
    (code) => errorCodes[code][0],
  );

/** `NotFound` for `not_found`. */
const inPascalCase = (code: string) => code.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
