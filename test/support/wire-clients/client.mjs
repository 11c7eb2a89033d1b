// Sends the requests of its second argument one after the other, and prints the result of each as JSON.
import { setTimeout as sleep } from 'node:timers/promises';

const [origin, requests] = process.argv.slice(2);
const results = [];
for (const { method, path, headers, body, timeoutMs } of JSON.parse(requests)) {
  // A connection can be used again a moment after its response.
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
