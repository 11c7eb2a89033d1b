// An agent without a model: it reads its task from PETSTORE_GOAL and uses the tools of the MCP server.
// petstore grade --goal examples/agents/goal.json --trials 5 -- node examples/agents/careful.mjs
import { setTimeout as sleep } from 'node:timers/promises';

const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key, PETSTORE_GOAL: goal } = process.env;
const mcp = new URL('mcp', api);
const [attempts, longestWaitS] = [5, 90];

/** Calls a tool. After a temporary failure or a lost response it retries the same call, with the same `idempotencyKey`. */
async function call(name, args = {}) {
  let problem;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    let waitS = 0.1 * 2 ** attempt + Math.random() / 10;
    try {
      const { isError, structuredContent: result } = await send({ name, arguments: args });
      if (!isError) return result;
      problem = new Error(`${name}: ${result.code}, ${result.message}`);
      const isTemporary = ['no_answer', 'unexpected_answer', 'unavailable', 'internal_error', 'unauthorized'];
      if (!('retryAfterSeconds' in result || isTemporary.includes(result.code))) break;
      waitS += result.retryAfterSeconds ?? 0;
    } catch (error) {
      // The response was lost, incomplete, too late, or not valid MCP.
      problem = error;
    }
    if (waitS > longestWaitS) break;
    await sleep(1000 * waitS);
  }
  throw problem;
}

async function send(params) {
  const answer = await fetch(mcp, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    signal: AbortSignal.timeout(20_000),
  });
  // The response is a JSON message, or an event with one.
  const text = await answer.text();
  const { result, error } = JSON.parse(text.replace(/^(?:event: .*\n)?data: /, ''));
  if (!result) throw new Error(`${answer.status} ${error?.message}`);
  return result;
}

/** Finds the only pet with this name. It may be on any page. */
async function findPet(name) {
  const found = [];
  let cursor;
  do {
    const { pets, nextCursor } = await call('find_pets', cursor && { cursor });
    found.push(...pets.filter((pet) => pet.name === name));
    cursor = nextCursor === cursor ? undefined : nextCursor;
  } while (cursor);
  if (found.length !== 1) throw new Error(`There are ${found.length} pets with the name ${name}.`);
  return found[0];
}

try {
  const [, quantity, name] = /^Order (\d+) of (\w+) and fulfil the order\./.exec(goal);
  const pet = await findPet(name);
  const idempotencyKey = crypto.randomUUID();
  const order = await call('place_order', { petId: pet.id, quantity: Number(quantity), idempotencyKey });
  await call('fulfil_order', { orderId: order.id });
  // The last line reports what the store returns, not what the agent assumes.
  const stock = await call('get_stock', { petId: pet.id });
  console.log(`done: order ${order.id}, ${stock.quantity} left`);
} catch (error) {
  console.log(`could not do it: ${error.message}`);
  process.exitCode = 1;
}
