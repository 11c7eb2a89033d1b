// A program that survives every fault: it finds a category, adds a pet to it, renames it, places an order, and removes an empty category.
// Node.js 22 or newer: petstore grade -- node examples/careful.mjs
//
// Report card: passed. not-reached: stale-read, stream-cut, stream-pieces, stream-silent, stream-expired, sunset.
import { setTimeout as sleep } from 'node:timers/promises';

if (!JSON.rawJSON) throw new Error(`Node.js 22 or newer is needed. This is ${process.versions.node}.`);

const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key } = process.env;

/** No request is sent before this time: a limit, a ban or an outage affects all requests. */
let notBeforeMs = 0;
const longestWaitMs = 90_000;

/** Sends a request with up to five attempts, until it gets a final response. */
async function send(method, url, { headers = {}, body } = {}) {
  // One key for all attempts, so that a request whose response was lost does not take effect twice.
  const once = method === 'POST' && { 'idempotency-key': crypto.randomUUID() };
  let problem;
  for (let attempt = 1; attempt <= 5; attempt++) {
    if (notBeforeMs > Date.now() + longestWaitMs)
      throw problem ?? new Error(`The limit is used up until ${new Date(notBeforeMs).toISOString()}.`);
    await sleep(Math.max(0, notBeforeMs - Date.now()));
    const backoffMs = 100 * 2 ** attempt * (1 + Math.random());
    try {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...once, ...headers },
        body: write(body),
        signal: AbortSignal.timeout(20_000),
      });
      // An incomplete response throws here.
      const data = read(await response.text());
      const field = (name) => response.headers.get(name);
      // The clock of the service may differ from this one.
      if (field('x-ratelimit-remaining') === '0')
        notBeforeMs = Number(field('x-ratelimit-reset')) * 1000 - Date.parse(field('date')) + Date.now();
      const isTemporary =
        response.status === 429 ||
        response.status >= 500 ||
        ['key_banned', 'idempotency_key_in_use'].includes(data?.code) ||
        // A key may be unknown for a moment, while the service starts.
        (response.status === 401 && attempt === 1);
      // The first attempt may have removed it.
      const isGone = method === 'DELETE' && response.status === 404 && attempt > 1;
      if (response.ok || isGone || response.status === 412) return { status: response.status, data, field };
      problem = new Error(`${method} ${url}: ${response.status} ${data?.code}, ${data?.message}`);
      if (!isTemporary) break;
      notBeforeMs = Math.max(notBeforeMs, Date.now(), retryAtMs(field('retry-after'))) + backoffMs;
    } catch (error) {
      problem = error;
      await sleep(backoffMs);
    }
  }
  throw problem;
}

/** `Retry-After` is a number of seconds or a date. Anything else counts as absent. */
function retryAtMs(retryAfter) {
  const seconds = Number(retryAfter);
  return Number.isNaN(seconds) ? Date.parse(retryAfter) || 0 : Date.now() + seconds * 1000;
}

// An id may be too large for an exact number in JavaScript. Then it is a BigInt.
const read = (text) =>
  text &&
  JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source)
      ? BigInt(source)
      : value,
  );
const write = (data) =>
  JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value));

/** Reads all items of a list: it follows the next page, even after an empty page. Also returns the ETag of the last page. */
async function list(url) {
  const items = [];
  let etag;
  for (let next = url; next; ) {
    const { data, field } = await send('GET', next);
    items.push(...data);
    etag = field('etag');
    const found = /<([^<>]*)>[^<]*; *rel="?(?:[^"]* )?next\b/.exec(field('link'))?.[1];
    // Only the query of the link counts, so the key stays at this API.
    const link = found && url.replace(/\?.*/, '') + new URL(found, url).search;
    // A link to the same page would never end.
    next = link === next ? undefined : link;
  }
  return { items, etag };
}

const { items: categories } = await list(`${api}/categories?limit=5`);
const named = (name) => categories.find((category) => category.name === name);
const reptiles =
  named('Reptiles') ?? (await send('POST', `${api}/categories`, { body: { name: 'Reptiles' } })).data;
console.log(`Reptiles is one of ${categories.length} categories.`);

const smaug = { name: 'Smaug', categoryId: reptiles.id, status: 'pending' };
const {
  data: { id },
} = await send('POST', `${api}/pets`, { body: smaug });
console.log('Smaug is there.');

// A change sends the version that was read. 412 means that the pet has changed: read it again, and decide again. If the change is
// already there, an earlier response was lost: then it is done.
const golden = 'Smaug the Golden';
for (let round = 1; ; round++) {
  const {
    items: [pet],
    etag,
  } = await list(`${api}/pets?id=${id}`);
  let isDone = pet.name === golden;
  if (!isDone) {
    const body = { ...pet, name: golden };
    const { status } = await send('PUT', `${api}/pets/${id}`, { headers: { 'if-match': etag }, body });
    isDone = status === 200;
  }
  if (isDone) {
    console.log(`He is now ${golden}, and ${pet.status}.`);
    break;
  }
  if (round === 10) throw new Error('Smaug cannot be renamed.');
}

const { data: order } = await send('POST', `${api}/store/orders`, { body: { petId: 13, quantity: 2 } });
console.log(`Ordered ${order.quantity} of Nemo.`);

const amphibians = named('Amphibians');
if (amphibians) await send('DELETE', `${api}/categories/${amphibians.id}`);
console.log('Amphibians is gone.');
