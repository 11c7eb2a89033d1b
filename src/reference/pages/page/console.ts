// A form that sends a request of an operation, and shows the answer.

import { currentKey } from '../../../access/keys/browser-key.ts';
import { randomId } from '../../../client/platform.ts';
import { prettyJson } from '../../../http/pages/pretty-json.ts';
import { operationIn, type Part, resolverOf } from '../../description/part.ts';
import { element } from './element.ts';

const root = new URL('.', location.href);
const descriptions = new Map<string, Promise<Part>>();

/** The description at a path, loaded once. */
export function loadDescription(path: string): Promise<Part> {
  const loaded = descriptions.get(path) ?? fetchDescription(path);
  descriptions.set(path, loaded);
  return loaded;
}

async function fetchDescription(path: string): Promise<Part> {
  try {
    const response = await fetch(new URL(path, root));
    if (!response.ok) throw new Error(`The service responded with ${response.status}.`);
    return await response.json();
  } catch (error) {
    descriptions.delete(path);
    throw error;
  }
}

/** The form of an operation of the description at a path. Its requests go to the service that this page is from. */
export async function consoleFor(id: string, path: string): Promise<HTMLFormElement> {
  const description = await loadDescription(path);
  const found = operationIn(description, id);
  const { method, url, operation } = found;
  // Paths are beside the description, unless they begin with its folder.
  const start = url.split('/')[1] === path.split('/')[0] ? root : new URL(path, root);
  const resolve = resolverOf(description);
  const fields = operation.parameters
    .map(resolve)
    .map((parameter: Part) => fieldOf(parameter, resolve, method));
  const body: Body | undefined = operation.requestBody && bodyField(operation.requestBody);
  const send = element('button', { type: 'submit' }, 'Send');
  const answer = element('div', { class: 'answer' });
  const form = element(
    'form',
    { class: 'console', 'aria-label': 'Try it' },
    element('h2', {}, 'Try it'),
    ...fields.map(({ row }: Field) => row),
    body?.label ?? '',
    element('div', { class: 'actions' }, send),
    answer,
  );
  let underWay: AbortController | undefined;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (underWay) return underWay.abort();
    underWay = new AbortController();
    send.textContent = 'Stop';
    const request = requestOf(found, start, fields, body);
    await show(request, answer, underWay.signal);
    underWay = undefined;
    send.textContent = 'Send';
  });
  return form;
}

type Operation = ReturnType<typeof operationIn>;

/** The input of a parameter. */
interface Field {
  name: string;
  place: string;
  isList: boolean;
  input: HTMLInputElement | HTMLSelectElement;
  row: HTMLElement;
}

/** An optional parameter is not sent while its input is empty. The input shows the example. */
function fieldOf(parameter: Part, resolve: (part: Part) => Part, method: string): Field {
  const { name, in: place, required } = parameter;
  const schema = resolve(parameter.schema);
  const example = String(parameter.example ?? schema.example ?? '');
  // A POST is safe to repeat with the same key. The reader sees what to send.
  const proposed = name === 'Idempotency-Key' && method === 'POST';
  const value = proposed ? randomId() : required ? example : '';
  const input = schema.enum
    ? element('select', {}, ...['', ...schema.enum].map((option) => element('option', {}, String(option))))
    : element('input', { autocomplete: 'off', spellcheck: 'false', placeholder: value ? '' : example });
  input.value = value;
  input.required = required ?? false;
  const label = element('label', {}, `${name} (${place}${required ? ', required' : ''})`, input);
  const row = proposed ? element('div', { class: 'row' }, label, renewal(input)) : label;
  return { name, place, isList: schema.type === 'array', input, row };
}

function renewal(input: Field['input']): HTMLElement {
  const button = element('button', { type: 'button' }, 'New key');
  button.addEventListener('click', () => {
    input.value = randomId();
  });
  return button;
}

interface Body {
  mediaType: string;
  input: HTMLTextAreaElement;
  label: HTMLElement;
}

function bodyField({ content }: Part): Body {
  const [[mediaType, { example }]] = Object.entries<Part>(content) as [[string, Part]];
  const input = element('textarea', { spellcheck: 'false' });
  input.value = JSON.stringify(example, null, 2);
  return { mediaType, input, label: element('label', {}, `Body (${mediaType})`, input) };
}

/** `start`: the URL that the path is relative to. */
function requestOf({ method, url }: Operation, start: URL, fields: Field[], body: Body | undefined): Request {
  const used = fields.filter(({ input }) => input.value !== '');
  const inPath = (name: string) =>
    encodeURIComponent(fields.find((field) => field.name === name)?.input.value ?? '');
  const address = new URL(`.${url.replaceAll(/\{(\w+)\}/g, (_, name) => inPath(name))}`, start);
  for (const { name, isList, input } of used.filter(({ place }) => place === 'query'))
    for (const value of isList ? input.value.split(',') : [input.value])
      address.searchParams.append(name, value);
  const key = currentKey();
  return new Request(address, {
    method,
    headers: {
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(body && { 'Content-Type': body.mediaType }),
      ...Object.fromEntries(
        used.filter(({ place }) => place === 'header').map(({ name, input }) => [name, input.value]),
      ),
    },
    ...(body && { body: body.input.value }),
    // What the browser has stored would hide the limits.
    cache: 'no-store',
  });
}

/** Shows the answer as it arrives: a stream ends only when the reader stops it. */
async function show(request: Request, answer: HTMLElement, signal: AbortSignal): Promise<void> {
  const beganMs = performance.now();
  const line = element('p', { role: 'status' }, 'Waiting …');
  const text = element('code');
  answer.replaceChildren(line);
  try {
    const response = await fetch(request, { signal });
    const ms = Math.round(performance.now() - beganMs);
    line.replaceChildren(element('strong', {}, `${response.status} ${response.statusText}`), ` in ${ms} ms`);
    const rows = [...response.headers].map(([name, value]) =>
      element('tr', {}, element('td', {}, element('code', {}, name)), element('td', {}, value)),
    );
    answer.append(
      element('p', {}, element('code', {}, `${request.method} ${request.url}`)),
      element('pre', {}, text),
      element(
        'details',
        {},
        element('summary', {}, 'Header fields'),
        element('table', {}, element('tbody', {}, ...rows)),
      ),
    );
    answer.scrollIntoView({ block: 'nearest' });
    const decoder = new TextDecoder();
    for await (const chunk of piecesOf(response)) text.append(decoder.decode(chunk, { stream: true }));
    text.textContent = prettyJson(text.textContent) ?? (text.textContent || 'The response has no body.');
    answer.scrollIntoView({ block: 'nearest' });
  } catch (error) {
    line.append(signal.aborted ? ' Stopped.' : ` There was no response: ${(error as Error).message}`);
  }
}

/** `for await` over a stream is newer than the browsers that read this. */
async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) yield part.value;
}
