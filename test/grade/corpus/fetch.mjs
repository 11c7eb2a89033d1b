// A shop's evening: it sorts new pets in, renames one, counts stock, sells and tidies up. Correct, except for the mistake in its argument.
import { setTimeout as sleep } from 'node:timers/promises';

const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key } = process.env;
const [mistake = 'none'] = process.argv.slice(2);
const errs = (...names) => names.includes(mistake);

const foresees = !errs('does not foresee limits', 'takes dates for numbers', 'ignores Retry-After');
const temporary = [408, 429, 500, 502, 503, 504];
const retried = errs('retries refusals') ? [...temporary, 404, 409, 412, 422] : temporary;
const mostAttempts = errs('never gives up') ? Number.POSITIVE_INFINITY : 6;
const longestWaitMs = errs('never gives up') ? 300 : 5_000;

/** No request remains until then. */
let spentUntilMs = 0;

/** Sends a request until it has a usable response. */
async function send(method, target, { body, headers = {}, isBulk = false, attempts = mostAttempts } = {}) {
  const isKeyed =
    method === 'POST' &&
    !errs('no key', 'no key with random names', 'removes what it made twice', 'looks on the first page') &&
    !(isBulk && errs('no key in the loop')) &&
    !(target === '/pets' && errs('looks before it sends again'));
  let once = errs('one key for all orders') && target === '/store/orders' ? 'the-order' : crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    if (errs('a key for each attempt') || (isBulk && errs('a key for each attempt in the loop')))
      once = crypto.randomUUID();
    const sent =
      errs('another body on retry') && body && attempt > 1
        ? { ...body, name: `${body.name} ${attempt}` }
        : body;
    let waitMs = Math.min(longestWaitMs, 100 * 2 ** attempt * (1 + Math.random()));
    if (errs('waits as long each time')) waitMs = 120;
    if (errs('retries at once')) waitMs = 0;
    while (Date.now() < spentUntilMs) await sleep(spentUntilMs - Date.now());
    try {
      const limit = new AbortController();
      const timer = errs('no time limit') ? undefined : setTimeout(() => limit.abort(), 8_000);
      const follows = errs('follows redirects with its key', 'follows redirects by GET');
      const options = {
        method,
        redirect: follows ? 'manual' : 'follow',
        headers: {
          authorization: `Bearer ${key}`,
          ...(sent && { 'content-type': 'application/json' }),
          ...(isKeyed && { 'idempotency-key': once }),
          ...headers,
        },
        body:
          sent &&
          JSON.stringify(sent, (_, value) =>
            typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
          ),
        signal: limit.signal,
      };
      const url = target.startsWith('http') ? target : api + target;
      let answer = await fetch(url, options);
      if (follows && [307, 308].includes(answer.status)) {
        const location = new URL(answer.headers.get('location'), url);
        const { authorization } = options.headers;
        answer = await fetch(
          location,
          errs('follows redirects by GET') ? { headers: { authorization } } : options,
        );
      }
      if (errs('no time limit for bodies')) clearTimeout(timer);
      const text = await answer.text();
      clearTimeout(timer);
      if (answer.headers.get('x-ratelimit-remaining') === '0' && foresees)
        spentUntilMs =
          1000 * answer.headers.get('x-ratelimit-reset') -
          (errs('trusts its own clock') ? 0 : Date.parse(answer.headers.get('date')) - Date.now());
      const isJson =
        errs('takes every body for JSON') || /json/.test(answer.headers.get('content-type') ?? '');
      const data = isJson && text ? JSON.parse(text, exactly) : undefined;
      if (answer.ok || (answer.status === 412 && !errs('retries refusals'))) return { answer, data };
      if (method === 'DELETE' && answer.status === 404 && attempt > 1) return { answer, data };
      const mayWait = [
        'key_banned',
        !errs('takes a key in use for a refusal') && 'idempotency_key_in_use',
      ].includes(data?.code);
      const mayRefresh = answer.status === 401 && (attempt === 1 || errs('repeats 401'));
      const problem = new Error(
        `${method} ${target}: ${answer.status} ${data?.message ?? text.slice(0, 80)}`,
      );
      if (attempt >= attempts || !(retried.includes(answer.status) || mayWait || mayRefresh))
        throw Object.assign(problem, { isFinal: true });
      const told = answer.headers.get('retry-after');
      const isSeconds = /^\d+$/.test(told ?? '') || errs('takes dates for numbers');
      const toldMs = isSeconds ? 1000 * told : Date.parse(told) - Date.now() || 0;
      if (toldMs > 90_000 && !errs('waits for ten days')) throw Object.assign(problem, { isFinal: true });
      if (!errs('ignores Retry-After')) waitMs = Math.max(waitMs, toldMs + 50);
      if (errs('trusts Retry-After alone') && told) waitMs = toldMs;
    } catch (error) {
      if (error.isFinal || attempt >= attempts || error instanceof SyntaxError) throw error;
    }
    await sleep(waitMs);
  }
}

const exactly = (_, value, { source }) =>
  !errs('rounds ids') && typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source)
    ? BigInt(source)
    : value;

/** Whether errors of this list are not taken seriously. */
const isCareless = (target) =>
  errs('prints zero after errors') ||
  (errs('prints zero and goes on', 'says that the store is down') && target === '/pets?limit=7');

/** Takes only the query of the link, so the key stays at the API. */
function nextOf(link, target) {
  if (errs('reads one form of links')) return /<([^>]+)>; *rel="next"/.exec(link)?.[1];
  const url = /<([^<>]*)>[^<]*; *rel="?(?:[^"]* )?next\b/.exec(link)?.[1];
  if (url === undefined || errs('follows links with its key')) return url;
  return target.replace(/\?.*/, '') + new URL(url, api).search;
}

async function list(target) {
  const items = [];
  const seen = new Set();
  for (let next = target; next; ) {
    if (seen.has(next) && !errs('follows links for ever')) throw new Error(`${next} leads to itself.`);
    seen.add(next);
    const isLater = seen.size > 1;
    let page;
    try {
      const isHasty = (isLater && errs('swallows errors of later pages')) || isCareless(target);
      page = await send('GET', next, isHasty ? { attempts: 1 } : {});
    } catch (error) {
      if (isLater && errs('swallows errors of later pages')) break;
      if (errs('says that the store is down') && isCareless(target)) throw error;
      if (isCareless(target)) return [];
      throw error;
    }
    items.push(...page.data);
    if (errs('prints each page')) console.log(`${page.data.length} on this page`);
    if (page.data.length === 0 && errs('stops at an empty page')) break;
    if (errs('reads the first page')) break;
    next = nextOf(page.answer.headers.get('link') ?? '', next);
    if (errs('loses the filter on later pages')) next = next?.replace(/status=\w+&?/, '');
  }
  return items;
}

const categories = await list('/categories');
const reptiles =
  categories.find(({ name }) => name === 'Reptiles') ??
  (await send('POST', '/categories', { body: { name: 'Reptiles' } })).data;
console.log(`${categories.length} categories, and ${reptiles.name} among them`);
if (errs('says that the store is down')) {
  await list('/pets?limit=7').then(
    ({ length }) => console.log(`TOTAL ${length}`),
    () => console.log('The store is down.'),
  );
  process.exit();
}
if (errs('prints zero after errors', 'prints zero and goes on', 'only reads')) {
  const pets = await list('/pets?limit=7');
  console.log(`TOTAL ${pets.length} ${new Set(pets.map(({ status }) => status)).size}`);
  if (!errs('prints zero and goes on')) process.exit();
}

for (const { id } of await list('/pets?status=sold'))
  await send('PATCH', `/inventory/${id}`, { body: { quantity: 2 } });
if (errs('retries refusals'))
  await send('PATCH', '/pets/4711', { body: { name: 'Nobody' }, attempts: 4 }).catch(() =>
    console.log('Nobody is 4711.'),
  );
const { data: dragons } = await send('POST', '/categories', { body: { name: 'Dragons' } });
const added = [];
const suffix = errs('random names', 'no key with random names') ? ` ${crypto.randomUUID().slice(0, 8)}` : '';
/** Adds a pet. Without a key it first looks for the pet of a lost response. */
async function add(body, attempt = 1) {
  if (!errs('looks on the first page', 'looks before it sends again'))
    return (await send('POST', '/pets', { isBulk: true, body })).data;
  try {
    return (await send('POST', '/pets', { isBulk: true, body, attempts: 1 })).data;
  } catch (error) {
    if (attempt === 5) throw error;
    await sleep(200 * 2 ** attempt);
    const isPart = errs('looks on the first page');
    const pets = isPart ? (await send('GET', '/pets')).data : await list('/pets?limit=7');
    return pets.find(({ name }) => name === body.name) ?? add(body, attempt + 1);
  }
}
for (const name of ['Smaug', 'Fafnir', 'Norbert', 'Toothless'].map((name) => name + suffix)) {
  const data = await add({ name, categoryId: dragons.id });
  added.push(data);
  if (errs('removes what it made twice')) {
    const made = (await list('/pets?limit=7')).filter((pet) => pet.name === name && pet.id !== data.id);
    for (const { id } of made) await send('DELETE', `/pets/${id}`);
  }
  console.log(`${name} is there.`);
}
const [smaug, fafnir, norbert, toothless] = added;

const change = async (pet, rename) => {
  let read;
  for (let turn = 1; turn <= 8; turn++) {
    if (turn === 1 || !errs('reads from a cache after 412')) read = await send('GET', `/pets?id=${pet.id}`);
    const { answer, data } = read;
    const [now] = data;
    if (turn > 1 && !errs('renames twice') && now.name.includes(rename(pet.name))) return;
    const headers = errs('overwrites') ? {} : { 'if-match': answer.headers.get('etag') };
    const wanted = rename(now.name);
    const { answer: changed } = await send('PATCH', `/pets/${pet.id}`, { headers, body: { name: wanted } });
    if (changed.ok) return;
  }
  throw new Error('Somebody else is always faster.');
};
await change(smaug, (name) => `${name} the Golden`);

const pets = await list('/pets?limit=7');
console.log(`TOTAL ${pets.length}`);
await send('PATCH', `/inventory/${fafnir.id}`, { body: { quantity: 5 } });
for (const { id } of pets.filter((pet) => pet.id === smaug.id || pet.id === toothless.id))
  await send('PATCH', `/inventory/${id}`, { body: { quantity: 3 } });
/** Places an order. After a failure it first looks for its own order of this pet. */
async function place(body) {
  const order = () => send('POST', '/store/orders', { isBulk: true, body, attempts: 1 });
  if (!errs('takes any order for its own'))
    return (await send('POST', '/store/orders', { isBulk: true, body })).data;
  try {
    return (await order()).data;
  } catch {
    await sleep(1_500);
    const [own] = await list(`/store/orders?petId=${body.petId}`);
    return own ?? (await order()).data;
  }
}
const undated = [];
async function sell(quantity) {
  const order = await place({ petId: fafnir.id, quantity });
  if (errs('dates orders too late')) {
    const date = { body: { shipDate: '2026-12-01T08:00:00Z' } };
    const dating = send('PATCH', `/store/orders/${order.id}`, { ...date, attempts: 1 });
    await dating.catch(() => undated.push([order.id, date]));
  }
  await send('PATCH', `/store/orders/${order.id}`, {
    body: { complete: true },
    ...(errs('leaves orders open after errors') && { attempts: 1 }),
  });
}
for (const quantity of [2, 1]) {
  try {
    const late = errs('leaves the loser running')
      ? sleep(5_000, true, { ref: false })
      : new Promise(() => {});
    if (await Promise.race([sell(quantity), late])) await sell(quantity);
  } catch (error) {
    if (!errs('leaves orders open after errors', 'one key for all orders')) throw error;
  }
  console.log(`Sold ${quantity} of Fafnir.`);
}
// A complete order accepts no date any more. This program ignores that.
for (const [id, date] of undated) await send('PATCH', `/store/orders/${id}`, date).catch(() => undefined);
if (errs('polls'))
  for (let times = 0; times < 6; times++) {
    await send('GET', `/inventory/${smaug.id}`);
    await sleep(150);
  }
await send('DELETE', `/pets/${norbert.id}`);
await send('DELETE', `/pets/${toothless.id}`);
console.log('Norbert and Toothless have moved on.');
