import { type ErrorCode, errorCodes } from '../../foundation/errors.ts';
import { type Part, resolverOf, typeOf } from './part.ts';
import type { JsonObject } from './schemas.ts';

/** Parameters that many operations share are described once. */
const isShared = ({ in: place, name }: Part) => place === 'header' || name === 'limit' || name === 'cursor';

/** All operations and schemas of a description as Markdown, without code samples: a tenth of its size. */
export function toMarkdown(description: JsonObject): string {
  const { paths, components } = description as Part;
  const resolve = resolverOf(description);
  const operations = Object.entries<Part>(paths).flatMap(([path, item]) =>
    Object.entries<Part>(item).map(([method, operation]) => [
      `### ${operation.summary}`,
      [`\`${method.toUpperCase()} ${path}\``, `\`${operation.operationId}\``, ...marksOf(operation)].join(
        ' · ',
      ),
      operation.description,
      lines([
        ...parameterLines(operation.parameters.map(resolve)),
        ...bodyLines(operation.requestBody),
        ...answerLines(operation.responses, resolve),
      ]),
    ]),
  );
  const parameters = Object.values<Part>(paths)
    .flatMap((item) => Object.values<Part>(item).flatMap((operation) => operation.parameters.map(resolve)))
    .filter(isShared);
  const shared = [...new Map(parameters.map((parameter) => [parameter.name, parameter])).values()];
  const schemas = Object.entries<Part>(components.schemas).map(([name, schema]) => [
    `### ${name}`,
    schema.description,
    schema.properties ? lines(propertyLines(schema)) : `Type: ${typeOf(schema)}`,
  ]);
  return [
    '## Parameters of many operations',
    lines(shared.map(parameterLine)),
    '## Errors',
    'Their body is an `Error`. Each status, and its codes:',
    errorList(),
    '## Operations',
    ...operations.flat(),
    '## Schemas',
    ...schemas.flat(),
  ]
    .filter(Boolean)
    .join('\n\n');
}

const lines = (texts: string[]) => texts.map((text) => `- ${text}`).join('\n');

const marksOf = (operation: Part): string[] => [
  ...(operation['x-stability'] ? [operation['x-stability']] : []),
  ...(operation.deprecated ? ['deprecated'] : []),
];

function parameterLines(parameters: Part[]): string[] {
  const shared = parameters.filter(isShared).map(({ name }) => `\`${name}\``);
  const own = parameters.filter((parameter) => !isShared(parameter)).map(parameterLine);
  return shared.length > 0 ? [...own, `also ${shared.join(', ')}`] : own;
}

const parameterLine = ({ name, in: place, required, schema, description }: Part) =>
  `\`${name}\` (${place}${required ? ', required' : ''}): ${typeOf(schema)}. ${description}`;

const propertyLines = ({ properties, required = [] }: Part) =>
  Object.entries<Part>(properties).map(([name, property]) => {
    const { description = '' } = property;
    return `\`${name}\`${required.includes(name) ? ' (required)' : ''}: ${typeOf(property)}. ${description}`.trim();
  });

function bodyLines(body: Part | undefined): string[] {
  if (!body) return [];
  const mediaTypes = Object.keys(body.content);
  const { schema, example } = body.content[mediaTypes[0] as string];
  return [
    `body: ${typeOf(schema)} as \`${mediaTypes.join('` or `')}\`, such as \`${JSON.stringify(example)}\``,
  ];
}

/** The successful responses, then the statuses of errors, with their codes if a status has several. */
function answerLines(responses: Record<string, Part>, resolve: (part: Part) => Part): string[] {
  const { answers = [], errors = [] } = Object.groupBy(Object.keys(responses), (status) =>
    Number(status) >= 400 ? 'errors' : 'answers',
  );
  const answer = (status: string) => {
    const { description, content } = resolve(responses[status] as Part);
    const [media] = Object.entries<Part>(content ?? {});
    return `${status}${media ? `: ${typeOf(media[1].schema)} as \`${media[0]}\`` : ''}. ${description}`;
  };
  const error = (status: string) => {
    const codes = Object.keys(resolve(responses[status] as Part).content['application/json'].examples);
    const isPlain = codesByStatus.get(Number(status))?.length === 1;
    return isPlain ? status : `${status} (${inCode(codes)})`;
  };
  return [...answers.map(answer), `errors: ${errors.map(error).join(', ')}`];
}

const codesByStatus = Map.groupBy<number, ErrorCode>(
  Object.keys(errorCodes) as ErrorCode[],
  (code) => errorCodes[code][0],
);

/** Each status of errors with its codes. */
export const errorList = () =>
  lines(
    [...codesByStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, codes]) => `${status}: ${inCode(codes)}`),
  );

export const inCode = (names: string[]) => names.map((name) => `\`${name}\``).join(', ');

/** Raises headings by one level, but not in code blocks. */
export const raiseHeadings = (text: string) =>
  text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, i) => (i % 2 === 0 ? part.replaceAll(/^###/gm, '##') : part))
    .join('');
