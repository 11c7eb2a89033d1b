// Plain JavaScript in a process of its own, so that the load has its own core.
import autocannon from 'autocannon';

const { errors, non2xx, requests, latency } = await autocannon(JSON.parse(process.argv[2]));
if (errors + non2xx > 0) throw new Error(`${errors} errors, ${non2xx} answers that are no success`);
console.log(JSON.stringify({ perSecond: requests.average, p50Ms: latency.p50, p99Ms: latency.p99 }));
