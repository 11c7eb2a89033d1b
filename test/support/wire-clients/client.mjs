// Sends the requests of its second argument one after the other, and prints what came of each as JSON.
import { setTimeout as sleep } from 'node:timers/promises';

const [origin, requests] = process.argv.slice(2);
const results = [];
for (const { method, path, headers, body, timeoutMs } of JSON.parse(requests)) {
  // A connection may be used again a moment after its answer.
  await sleep(10);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(origin + path, { method, headers, body, signal });
    await response.text();
    results.push(`${response.status}${response.headers.get('idempotency-replayed') ? ' replayed' : ''}`);
  } catch (error) {
    results.push(error.cause?.code ?? error.name);
  }
}
console.log(JSON.stringify(results));
