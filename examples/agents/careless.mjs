// The task of careful.mjs, as agents often do it: it orders again when it gets no response, and always says "done".
// petstore grade --goal examples/agents/goal.json --trials 5 -- node examples/agents/careless.mjs
const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key, PETSTORE_GOAL: goal } = process.env;

/** Calls a tool. It retries after every failure, and wrongly sends each attempt as a new call. */
async function call(name, args = {}, triesLeft = 3) {
  const idempotencyKey = name === 'place_order' ? { idempotencyKey: crypto.randomUUID() } : {};
  const params = { name, arguments: { ...args, ...idempotencyKey } };
  try {
    const answer = await fetch(new URL('mcp', api), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const { result } = JSON.parse((await answer.text()).replace(/^(?:event: .*\n)?data: /, ''));
    if (result.isError) throw new Error(result.structuredContent.message);
    return result.structuredContent;
  } catch {
    return triesLeft > 1 ? call(name, args, triesLeft - 1) : {};
  }
}

const [, quantity, name] = /^Order (\d+) of (\w+) and fulfil the order\./.exec(goal);
const { pets = [] } = await call('find_pets');
const pet = pets.find((pet) => pet.name === name);
const stock = await call('get_stock', { petId: pet?.id });
const order = await call('place_order', { petId: pet?.id, quantity: Number(quantity) });
await call('fulfil_order', { orderId: order.id });
// Wrong: it assumes that everything worked and that nobody else ordered meanwhile.
console.log(`done: order ${order.id}, ${stock.quantity - quantity} left`);
