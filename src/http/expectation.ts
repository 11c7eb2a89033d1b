import type { TSchema } from 'typebox';

/** The keywords that our schemas use. */
interface Keywords {
  type?: string;
  enum?: readonly string[];
  anyOf?: readonly TSchema[];
  items?: TSchema;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
}

/** What a value must be according to its schema, to follow "must be" in a message. */
export function expectation(schema: TSchema): string {
  const keywords = schema as Keywords;
  if (keywords.anyOf) return keywords.anyOf.map(expectation).join(' or ');
  if (keywords.enum) return `one of ${keywords.enum.join(', ')}`;
  switch (keywords.type) {
    case 'integer':
      return integerExpectation(keywords);
    case 'string':
      return stringExpectation(keywords);
    case 'boolean':
      return 'true or false';
    case 'array':
      return `at most ${keywords.maxItems} values, each ${expectation(keywords.items as TSchema)}`;
    default:
      return String(keywords.type);
  }
}

function integerExpectation({ format, minimum, maximum }: Keywords): string {
  if (format === 'int64') return 'a 64-bit integer';
  return `an integer from ${minimum} to ${maximum}`;
}

function stringExpectation({ format, minLength, maxLength, pattern }: Keywords): string {
  if (format === 'date-time') return 'an RFC 3339 date-time such as 2026-01-31T12:00:00Z';
  if (maxLength === undefined) return 'a string';
  const length = minLength ? `${minLength} to ${maxLength}` : `at most ${maxLength}`;
  const isNotBlank = pattern?.includes('[^\\s') ? ', not only white space' : '';
  return `a string of ${length} characters${isNotBlank}, without the null character`;
}
