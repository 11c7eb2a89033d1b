import { mediaTypesOf, type Operation } from '../../http/operation.ts';
import { exampleOf, type Json } from './schemas.ts';

/** A sample in the form of `x-codeSamples`: `lang` selects the colours, `label` is shown. */
export type CodeSample = { lang: string; label: string; source: string };

interface SampleRequest {
  method: string;
  url: string;
  body: Record<string, Json> | undefined;
  mediaType: string;
  /** Whether a safe retry needs an Idempotency-Key. */
  isCreation: boolean;
  needsKey: boolean;
  /** Random bytes of its Idempotency-Key. */
  randomBytes: number;
  hasAnswer: boolean;
  /** Whether the response is text, not JSON. */
  isText: boolean;
  isStream: boolean;
}

/**
 * Programs that send the example request of an operation, and retry if Retry-After is a minute at most. They read a stream for a
 * few seconds. curl does not retry a broken connection, because its only option for that also retries 404.
 */
export function codeSamples(operation: Operation, baseUrl: string): CodeSample[] {
  const request = sampleRequest(operation, baseUrl);
  return [
    { lang: 'Shell', label: 'cURL', source: curl(request) },
    { lang: 'JavaScript', label: 'JavaScript', source: javaScript(request) },
    { lang: 'Python', label: 'Python', source: python(request) },
  ];
}

/** The example request of an operation. It succeeds on the demo data. */
export function sampleRequest(operation: Operation, baseUrl: string): SampleRequest {
  const { method, body, success, isPublic = false, returnsKey } = operation;
  return {
    method,
    url: baseUrl + examplePath(operation),
    body: body && (exampleOf(body, true) as Record<string, Json>),
    mediaType: mediaTypesOf(operation)[0] as string,
    isCreation: method === 'POST',
    needsKey: !isPublic,
    randomBytes: returnsKey ? 24 : 16,
    hasAnswer: success.schema !== undefined,
    isText: success.kind === 'text',
    isStream: success.kind === 'stream',
  };
}

export function examplePath(operation: Operation): string {
  const params = exampleParams(operation);
  return operation.path.replace(/{(\w+)}/g, (_, name) => params[name] as string);
}

/** The path parameters of the example request. */
export function exampleParams({ params, sampleParams }: Operation): Record<string, string> {
  const examples = Object.entries(params).map(([name, schema]) => [
    name,
    String(sampleParams?.[name] ?? exampleOf(schema)),
  ]);
  return Object.fromEntries(examples);
}

function curl(request: SampleRequest): string {
  const { method, url, body, mediaType, isCreation, needsKey, randomBytes, isStream } = request;
  return [
    'curl --include --fail-with-body',
    // With --retry, curl would treat the end of --max-time as a failure.
    isStream ? '--no-buffer --max-time 5' : '--retry 3 --retry-max-time 60',
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...(needsKey ? ['--header "Authorization: Bearer $PETSTORE_API_KEY"'] : []),
    ...(body ? [`--header 'Content-Type: ${mediaType}'`] : []),
    ...(isCreation ? [`--header "Idempotency-Key: $(head -c ${randomBytes} /dev/urandom | base64)"`] : []),
    ...(body ? [`--data ${shellQuoted(spread(body))}`] : []),
    shellQuoted(url) + (isStream ? ' ||\n  test $? = 28 # The five seconds are over.' : ''),
  ].join(' \\\n  ');
}

function javaScript(request: SampleRequest): string {
  const { method, url, body, mediaType, isCreation, needsKey, hasAnswer, isText, isStream } = request;
  const lines = [
    `const url = ${quoted(url)};`,
    'const options = {',
    ...(method === 'GET' ? [] : [`  method: "${method}",`]),
    '  headers: {',
    ...(needsKey ? [`    Authorization: \`Bearer \${process.env.PETSTORE_API_KEY}\`,`] : []),
    ...(body ? [`    "Content-Type": "${mediaType}",`] : []),
    ...(isCreation ? ['    "Idempotency-Key": crypto.randomUUID(),'] : []),
    '  },',
    ...(body ? ['  body: JSON.stringify({', ...entries(body, inJavaScript, '    '), '  }),'] : []),
    '};',
    '',
    '// The status is 0 if the connection breaks before a response.',
    'const send = () => fetch(url, options).catch(() => Response.error());',
    '',
    'let response = await send();',
    'for (let retry = 0; retry < 3; retry++) {',
    '  // Retry after a limit, a ban or a failure. Retry-After is in',
    '  // seconds or a date. Waits grow. If one is over a minute, give up.',
    '  const { status, headers } = response;',
    '  const after = headers.get("Retry-After");',
    '  if (!after && status > 0 && status < 500) break;',
    '  const date = Date.parse(after);',
    '  const asked = isNaN(after) ? date - Date.now() : after * 1000;',
    '  if (asked > 60_000) break;',
    '  const wait = asked + 250 * 2 ** retry;',
    '  await new Promise((resolve) => setTimeout(resolve, wait));',
    '  response = await send();',
    '}',
    'if (!response.ok) {',
    '  const status = response.status || "No response.";',
    `  throw new Error(\`\${status} \${await response.text()}\`);`,
    '}',
    ...(isStream
      ? javaScriptReader
      : [
          `console.log(response.status${hasAnswer ? `, await response.${isText ? 'text' : 'json'}()` : ''});`,
        ]),
  ];
  return lines.join('\n');
}

/** Reads one event of a stream. */
const javaScriptReader = [
  'console.log(response.status);',
  '',
  '// Waits for one event, five seconds at most.',
  '// To continue after it, send its id as Last-Event-ID.',
  'const texts = response.body.pipeThrough(new TextDecoderStream());',
  'const reader = texts.getReader();',
  'const timer = setTimeout(() => reader.cancel(), 5000);',
  'let text = "";',
  'let event;',
  'while (!event) {',
  '  const { done, value } = await reader.read();',
  '  if (done) break;',
  '  text += value;',
  '  event = /^data: (.*)\\n\\n/m.exec(text)?.[1];',
  '}',
  'clearTimeout(timer);',
  'await reader.cancel();',
  'console.log(event ? JSON.parse(event) : "Nothing happened.");',
];

function python(request: SampleRequest): string {
  const { method, url, body, mediaType, isCreation, needsKey, hasAnswer, isText, isStream } = request;
  const lines = [
    '# Needs requests: pip install requests',
    ...(isStream ? ['import json'] : []),
    ...(needsKey ? ['import os'] : []),
    'import time',
    ...(isCreation ? ['import uuid'] : []),
    'from email.utils import parsedate_to_datetime',
    '',
    'import requests',
    '',
    `url = ${quoted(url)}`,
    'options = {',
    '    "headers": {',
    ...(needsKey ? ['        "Authorization": f"Bearer {os.environ[\'PETSTORE_API_KEY\']}",'] : []),
    ...(body ? [`        "Content-Type": "${mediaType}",`] : []),
    ...(isCreation ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    '    },',
    ...(body ? ['    "json": {', ...entries(body, inPython, '        '), '    },'] : []),
    ...(isStream ? ['    "stream": True,', '    "timeout": 5,'] : ['    "timeout": 10,']),
    '}',
    '',
    'for retry in range(4):',
    '    after = "0"',
    '    try:',
    `        response = requests.${method.toLowerCase()}(url, **options)`,
    '        after = response.headers.get("Retry-After", "0")',
    '        if after == "0" and response.status_code < 500:',
    '            break',
    '    except requests.ConnectionError:',
    '        if retry == 3:',
    '            raise',
    '    # Retry after a limit, a ban or a failure. Retry-After is in',
    '    # seconds or a date. Waits grow. If one is over a minute, give up.',
    '    if after.isdigit():',
    '        asked = int(after)',
    '    else:',
    '        asked = parsedate_to_datetime(after).timestamp() - time.time()',
    '    if retry == 3 or asked > 60:',
    '        break',
    '    time.sleep(max(asked, 0) + 0.25 * 2**retry)',
    'response.raise_for_status()',
    ...(isStream
      ? pythonReader
      : [`print(response.status_code${hasAnswer ? `, response.${isText ? 'text' : 'json()'}` : ''})`]),
  ];
  return lines.join('\n');
}

const pythonReader = [
  'print(response.status_code)',
  '',
  '# Waits for one event, five seconds at most.',
  '# To continue after it, send its id as Last-Event-ID.',
  'try:',
  '    for line in response.iter_lines(decode_unicode=True):',
  '        if line.startswith("data: "):',
  '            print(json.loads(line.removeprefix("data: ")))',
  '            break',
  'except requests.exceptions.ConnectionError:',
  '    print("Nothing happened.")',
];

interface Language {
  nameOf(name: string): string;
  scalarOf(value: Json): string;
  indent: string;
}

/** The properties of an object, one or more lines each. */
const entries = (object: Record<string, Json>, language: Language, indent: string): string[] =>
  Object.entries(object).map(
    ([name, value]) => `${indent}${language.nameOf(name)}: ${literal(value, language, indent)},`,
  );

/** A literal, on several lines if one line is too long. */
function literal(value: Json, language: Language, indent: string): string {
  if (typeof value !== 'object' || value === null) return language.scalarOf(value);
  const inner = indent + language.indent;
  const parts = Array.isArray(value)
    ? value.map((part) => literal(part, language, inner))
    : Object.entries(value).map(
        ([name, part]) => `${language.nameOf(name)}: ${literal(part, language, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length <= maxLineLength && !line.includes('\n')) return line;
  return [open, ...parts.map((part) => `${inner}${part},`), indent + close].join('\n');
}

/** JSON on one line, or on several if one line is too long. */
function spread(body: Record<string, Json>): string {
  const line = JSON.stringify(body);
  return line.length > maxLineLength ? JSON.stringify(body, null, 2).replaceAll('\n', '\n  ') : line;
}

const maxLineLength = 60;

/** JSON is valid JavaScript, and for strings and numbers valid Python. */
const quoted = (value: Json) => JSON.stringify(value);

const inJavaScript: Language = { nameOf: (name) => name, scalarOf: quoted, indent: '  ' };

const inPython: Language = {
  nameOf: quoted,
  scalarOf: (value) =>
    value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : quoted(value),
  indent: '    ',
};

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
