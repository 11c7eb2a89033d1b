// The task of careful.mjs, as it is often written. It works until something goes wrong: petstore grade -- node examples/careless.mjs
//
// Report card: failed.
// did-it-twice: gateway-timeout, stall, no-answer, lost-answer, truncated, small-pages, empty-page.
// failed: rate-limited, rate-limited-date, clock-ahead, near-limit, large-ids, new-status, sunset.
// not-reached: next-away, stale-read, stream-cut, stream-pieces, stream-silent, stream-expired.
// failed checks: retry-after.obeyed, time-limit.exists, retry.only-when-useful, idempotency.same-key-on-retry, ban.stops,
// limits.foreseen, pages.to-the-end, ids.exact, if-match.sent, updates.not-lost, deprecated.not-called,
// sunset.successor-used, connections.reused.
const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key } = process.env;

// Retries after every failure, and wrongly sends each attempt as a new request.
async function send(method, path, body, triesLeft = 3) {
  try {
    const response = await fetch(api + path, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(method === 'POST' && { 'Idempotency-Key': crypto.randomUUID() }),
      },
      body: JSON.stringify(body),
    });
    const data = response.status === 204 ? undefined : await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${data.message}`);
    return data;
  } catch (error) {
    if (triesLeft === 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 130));
    return send(method, path, body, triesLeft - 1);
  }
}

// Wrong: it assumes that the first page has all categories.
const categories = await send('GET', '/categories');
const named = (name) => categories.find((category) => category.name === name);
const reptiles = named('Reptiles') ?? (await send('POST', '/categories', { name: 'Reptiles' }));
console.log(`Reptiles is one of ${categories.length} categories.`);

const smaug = { name: 'Smaug', categoryId: reptiles.id, status: 'pending' };
const { id } = await send('POST', '/pets', smaug);
console.log('Smaug is there.');

// Wrong: it assumes that nobody else changes him in between.
const pet = await send('GET', `/pets/${id}`);
await send('PUT', `/pets/${id}`, { ...pet, name: 'Smaug the Golden' });
const words = { available: ['for', 'sale'], pending: ['spoken', 'for'], sold: ['sold'] };
console.log(`He is now Smaug the Golden, and ${words[pet.status].join(' ')}.`);

const order = await send('POST', '/store/orders', { petId: 13, quantity: 2 });
console.log(`Ordered ${order.quantity} of Nemo.`);

// Wrong: it ignores failures of this request.
const amphibians = named('Amphibians');
if (amphibians) await send('DELETE', `/categories/${amphibians.id}`).catch(() => {});
console.log('Amphibians is gone.');
