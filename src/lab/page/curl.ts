import type { RecordedRequest } from '../recordings/schema.ts';

/** Header fields that curl sends by itself, or that belong to one connection. */
const ofConnection = new Set(
  'connection content-length expect host keep-alive te trailer transfer-encoding upgrade'.split(' '),
);
const notText = /^\(\d+ bytes? that (?:is|are) not text\)$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would act on them
const control = /[\0-\x08\x0b-\x1f\x7f]/;

/** One word of a shell (POSIX). */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Whether the recording has the whole body. */
export const isWhole = ({ body = '', bodyBytes }: RecordedRequest) =>
  new TextEncoder().encode(body).length === bodyBytes && !notText.test(body);

/** A shell line has a variable in place of the API key. */
const credential = { authorization: 'Authorization: Bearer', 'x-api-key': 'X-API-Key:' };

/** A curl line that repeats a request at `baseUrl`, and what it leaves out: what was not recorded whole, except the key. */
export function curlOf(request: RecordedRequest, baseUrl: string): { line: string; without: string } {
  const { method, target, headers, body = '' } = request;
  // The target may name another host: the line must not send the key there.
  const path = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  const url = baseUrl.replace(/\/v1\/?$/, '') + path;
  const hasBody = body !== '' && isWhole(request) && !control.test(body);
  const isBodyLost = request.bodyBytes !== 0 && !hasBody;
  const parts = [`curl --include${flagsOf(path)} ${quoted(url)}`];
  if (method === 'HEAD') parts.push('--head');
  else if (method !== 'GET' || hasBody) parts.push(`--request ${quoted(method)}`);
  for (const [name, value] of Object.entries(headers)) {
    if (name in credential)
      parts.push(`--header "${credential[name as keyof typeof credential]} $PETSTORE_API_KEY"`);
    else if (value !== '(not kept)' && !ofConnection.has(name) && !control.test(name + value))
      parts.push(`--header ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`);
  }
  // Otherwise curl adds the content type of a form.
  if (hasBody && headers['content-type'] === undefined) parts.push(`--header 'Content-Type:'`);
  if (hasBody) parts.push(`--data-raw ${quoted(body)}`);
  const lost = Object.keys(headers).filter((name) => headers[name] === '(not kept)' && !(name in credential));
  const left = [isBodyLost && 'the body, which is incomplete', lost.length > 0 && lost.join(', ')];
  return { line: parts.join(' \\\n  '), without: left.filter(Boolean).join(', and ') };
}

/** Options that keep curl from changing a path. */
const flagsOf = (path: string) =>
  `${/[[\]{}]/.test(path) ? ' --globoff' : ''}${/\/\.{1,2}(\/|$|\?)/.test(path) ? ' --path-as-is' : ''}`;
