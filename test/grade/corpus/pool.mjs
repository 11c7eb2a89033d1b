// Fills a shop with a pool of five workers. Correct, except for the mistake in its argument.
import { setTimeout as sleep } from 'node:timers/promises';

const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key } = process.env;
const [mistake = 'none'] = process.argv.slice(2);
const temporary = [408, 429, 500, 502, 503, 504];
const attempts = 6;
/** All workers wait until then. */
let pausedUntilMs = 0;

async function send(method, target, body) {
  let once = crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    let waitMs = 150 * 2 ** attempt * (1 + Math.random());
    if (mistake === 'a key for each attempt') once = crypto.randomUUID();
    while (Date.now() < pausedUntilMs) await sleep(pausedUntilMs - Date.now());
    let answer;
    let text = '';
    try {
      answer = await fetch(api + target, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...(method === 'POST' && mistake !== 'no key' && { 'idempotency-key': once }),
        },
        body: JSON.stringify(body, (_, value) =>
          typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
        ),
        signal: AbortSignal.timeout(8_000),
      });
      text = await answer.text();
    } catch (error) {
      if (attempt === attempts) throw error;
    }
    if (text && answer.ok) return JSON.parse(text, exactly);
    if (answer && text) {
      const mayPass =
        /"code": ?"(key_banned|idempotency_key_in_use)"/.test(text) ||
        (answer.status === 401 && attempt === 1);
      const told = answer.headers.get('retry-after') ?? '0';
      const toldMs = /^\d+$/.test(told) ? 1_000 * told : Date.parse(told) - Date.now() || 0;
      if (attempt === attempts || toldMs > 90_000 || !(temporary.includes(answer.status) || mayPass))
        throw new Error(`${method} ${target}: ${answer.status} ${text.slice(0, 80)}`);
      if (mistake !== 'ignores Retry-After') waitMs = Math.max(waitMs, toldMs + 50);
      if (!mistake.endsWith('Retry-After') && (answer.status === 429 || answer.status === 403))
        pausedUntilMs = Math.max(pausedUntilMs, Date.now() + toldMs + 50);
    }
    await sleep(waitMs);
  }
}

const exactly = (_, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source) ? BigInt(source) : value;

const dragons = await send('POST', '/categories', { name: 'Dragons' });
const names = Array.from({ length: 12 }, (_, index) => `Dragon ${index + 1}`);
const worker = async () => {
  for (let name = names.shift(); name; name = names.shift()) {
    const pet = await send('POST', '/pets', { name, categoryId: dragons.id });
    await send('PATCH', `/inventory/${pet.id}`, { quantity: 3 });
    const order = await send('POST', '/store/orders', { petId: pet.id, quantity: 2 });
    await send('PATCH', `/store/orders/${order.id}`, { complete: true });
    console.log(`${name} has sold.`);
  }
};
await Promise.all(Array.from({ length: 5 }, worker));
