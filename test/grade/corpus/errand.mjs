// A shop's evening by any HTTP client: `send(method, url, { body, headers })` resolves to { status, data, field }, and fails unless the answer is 2xx or 412.
const { PETSTORE_BASE_URL: api } = process.env;

/** Keeps ids beyond 2^53 exact, in both directions. */
export const read = (text) =>
  text &&
  JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source)
      ? BigInt(source)
      : value,
  );
export const write = (data) =>
  data &&
  JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value));

/** The header fields of every request. */
export const fieldsOf = (method, body, headers = {}) => ({
  authorization: `Bearer ${process.env.PETSTORE_API_KEY}`,
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(method === 'POST' && { 'idempotency-key': crypto.randomUUID() }),
  ...headers,
});

export async function errand(send) {
  const ask = (method, target, options) =>
    send(method, target.startsWith('http') ? target : api + target, options ?? {});
  const pets = [];
  const seen = new Set();
  for (let next = '/pets?limit=7'; next && !seen.has(next); ) {
    seen.add(next);
    const { data, field } = await ask('GET', next);
    pets.push(...data);
    const link = /<([^<>]*)>[^<]*; *rel="?(?:[^"]* )?next\b/.exec(field('link') ?? '')?.[1];
    next = link && `/pets${new URL(link, api).search}`;
  }
  console.log(`TOTAL ${pets.length}`);
  const { data: dragons } = await ask('POST', '/categories', { body: { name: 'Dragons' } });
  for (const name of ['Smaug', 'Fafnir', 'Norbert']) {
    const { data: pet } = await ask('POST', '/pets', { body: { name, categoryId: dragons.id } });
    await ask('PATCH', `/inventory/${pet.id}`, { body: { quantity: 4 } });
    const { data: order } = await ask('POST', '/store/orders', { body: { petId: pet.id, quantity: 1 } });
    await ask('PATCH', `/store/orders/${order.id}`, { body: { complete: true } });
    for (let isDone = false; !isDone; ) {
      const { data, field } = await ask('GET', `/pets?id=${pet.id}`);
      const [now] = data;
      if (now.name.includes('the Great')) break;
      const change = { headers: { 'if-match': field('etag') }, body: { name: `${now.name} the Great` } };
      isDone = (await ask('PATCH', `/pets/${pet.id}`, change)).status !== 412;
    }
    console.log(`${name} is the Great, and sold once.`);
  }
}
