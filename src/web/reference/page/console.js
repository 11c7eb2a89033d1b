// A form that sends a request of an operation, and shows the answer.

import { currentKey } from './key.js';

const root = new URL('.', location.href);
const descriptions = new Map();

/** The description at a path, loaded once. */
function describe(path) {
  if (!descriptions.has(path)) descriptions.set(path, fetchDescription(path));
  return descriptions.get(path);
}

async function fetchDescription(path) {
  const response = await fetch(new URL(path, root));
  if (!response.ok) {
    descriptions.delete(path);
    throw new Error(`The service responded with ${response.status}.`);
  }
  return response.json();
}

/** The form of an operation of the description at a path. Its requests go to the service that this page is from. */
export async function consoleFor(id, path) {
  const description = await describe(path);
  const { method, url, operation } = find(description, id);
  const resolve = (part) =>
    part.$ref
      ?.slice(2)
      .split('/')
      .reduce((found, name) => found[name], description) ?? part;
  const fields = operation.parameters.map(resolve).map((parameter) => fieldOf(parameter, resolve, method));
  const body = operation.requestBody && bodyField(operation.requestBody);
  const send = element('button', { type: 'submit' }, 'Send');
  const answer = element('div', { class: 'answer' });
  const form = element('form', { class: 'console', 'aria-label': 'Try it' }, [
    element('h2', {}, 'Try it'),
    ...fields.map(({ row }) => row),
    ...(body ? [body.label] : []),
    element('div', { class: 'actions' }, [send]),
    answer,
  ]);
  let underWay;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (underWay) return underWay.abort();
    underWay = new AbortController();
    send.textContent = 'Stop';
    const request = requestOf({ method, start: new URL(path, root), url, fields, body });
    await show(request, answer, underWay.signal);
    underWay = undefined;
    send.textContent = 'Send';
  });
  return form;
}

function find({ paths }, id) {
  for (const [url, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item))
      if (operation.operationId === id) return { method: method.toUpperCase(), url, operation };
}

/** The input of a parameter. An optional one is not sent while it is empty, and shows its example. */
function fieldOf(parameter, resolve, method) {
  const { name, in: place, required } = parameter;
  const schema = resolve(parameter.schema);
  const example = String(parameter.example ?? schema.example ?? '');
  // A POST is safe to repeat with the same key. The reader sees what to send.
  const proposed = name === 'Idempotency-Key' && method === 'POST';
  const value = proposed ? newId() : required ? example : '';
  const input = schema.enum
    ? element(
        'select',
        {},
        ['', ...schema.enum].map((option) => element('option', {}, String(option))),
      )
    : element('input', { autocomplete: 'off', spellcheck: 'false', placeholder: value ? '' : example });
  input.value = value;
  input.required = required;
  const label = element('label', {}, [`${name} (${place}${required ? ', required' : ''})`, input]);
  const row = proposed ? element('div', { class: 'row' }, [label, renewal(input)]) : label;
  return { name, place, isList: schema.type === 'array', input, row };
}

function renewal(input) {
  const button = element('button', { type: 'button' }, 'New key');
  button.addEventListener('click', () => {
    input.value = newId();
  });
  return button;
}

/** Only secure pages have `crypto.randomUUID`. */
const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

function bodyField({ content }) {
  const [[mediaType, { example }]] = Object.entries(content);
  const input = element('textarea', { spellcheck: 'false' });
  input.value = JSON.stringify(example, null, 2);
  return { mediaType, input, label: element('label', {}, [`Body (${mediaType})`, input]) };
}

function requestOf({ method, start, url, fields, body }) {
  const used = fields.filter(({ input }) => input.value !== '');
  const inPath = (name) => encodeURIComponent(fields.find((field) => field.name === name).input.value);
  const address = new URL(`.${url.replaceAll(/\{(\w+)\}/g, (_, name) => inPath(name))}`, start);
  for (const { name, isList, input } of used.filter(({ place }) => place === 'query'))
    for (const value of isList ? input.value.split(',') : [input.value])
      address.searchParams.append(name, value);
  const key = currentKey();
  return [
    address,
    {
      method,
      headers: {
        ...(key && { Authorization: `Bearer ${key}` }),
        ...(body && { 'Content-Type': body.mediaType }),
        ...Object.fromEntries(
          used.filter(({ place }) => place === 'header').map(({ name, input }) => [name, input.value]),
        ),
      },
      body: body?.input.value,
      // What the browser has stored would hide the limits.
      cache: 'no-store',
    },
  ];
}

/** Shows the answer as it arrives: a stream ends only when the reader stops it. */
async function show([address, options], answer, signal) {
  const beganMs = performance.now();
  const line = element('p', { role: 'status' }, 'Waiting …');
  const text = element('code', {});
  answer.replaceChildren(line);
  try {
    const response = await fetch(address, { ...options, signal });
    const ms = Math.round(performance.now() - beganMs);
    line.replaceChildren(element('strong', {}, `${response.status} ${response.statusText}`), ` in ${ms} ms`);
    const rows = [...response.headers].map(([name, value]) =>
      element('tr', {}, [element('td', {}, [element('code', {}, name)]), element('td', {}, value)]),
    );
    const fields = element('details', {}, [
      element('summary', {}, 'Header fields'),
      element('table', {}, [element('tbody', {}, rows)]),
    ]);
    answer.append(
      element('p', {}, [element('code', {}, `${options.method} ${address}`)]),
      element('pre', {}, [text]),
      fields,
    );
    answer.scrollIntoView({ block: 'nearest' });
    const decoder = new TextDecoder();
    for await (const chunk of piecesOf(response)) text.append(decoder.decode(chunk, { stream: true }));
    text.textContent = inLines(text.textContent) || 'The response has no body.';
    answer.scrollIntoView({ block: 'nearest' });
  } catch (error) {
    line.append(signal.aborted ? ' Stopped.' : ` There was no response: ${error.message}`);
  }
}

/** `for await` over a stream is newer than the browsers that read this. */
async function* piecesOf({ body }) {
  const reader = body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) yield part.value;
}

/** JSON with a line for each value. Numbers stay as they came, since ids may be beyond 2^53, but not in older browsers. */
function inLines(text) {
  const asItCame = (_name, value, context) =>
    typeof value === 'number' && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
  try {
    return JSON.stringify(JSON.parse(text, asItCame), null, 2);
  } catch {
    return text;
  }
}

function element(name, attributes, content = '') {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...[content].flat());
  return made;
}
