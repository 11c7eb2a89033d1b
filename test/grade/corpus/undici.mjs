// undici with its RetryAgent.
import { Agent, interceptors, RetryAgent, request } from 'undici';
import { errand, fieldsOf, read, write } from './errand.mjs';

const [mistake = 'none'] = process.argv.slice(2);
const limits =
  mistake === 'no time limit'
    ? { headersTimeout: 0, bodyTimeout: 0 }
    : { headersTimeout: 12_000, bodyTimeout: 12_000 };
const dispatcher = new RetryAgent(new Agent(limits).compose(interceptors.redirect({ maxRedirections: 3 })), {
  maxRetries: 5,
  minTimeout: 150,
  timeoutFactor: 2,
  throwOnError: false,
  methods: ['GET', 'PUT', 'PATCH', 'DELETE', 'POST'],
  // After 429 and 503 it waits for 30 s at most, whatever Retry-After says.
  statusCodes: [408, 500, 502, 504],
});

await errand(async (method, url, { body, headers }) => {
  const fields = fieldsOf(method, body, headers);
  if (mistake === 'no key') delete fields['idempotency-key'];
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await request(url, { method, headers: fields, body: write(body), dispatcher });
      const text = await answer.body.text();
      const field = (name) => answer.headers[name];
      const { statusCode: status } = answer;
      if (status < 300 || status === 412) return { status, data: read(text), field };
      const mayPass =
        status === 429 ||
        status === 503 ||
        /key_banned|idempotency_key_in_use/.test(text) ||
        (status === 401 && attempt === 1);
      const told = field('retry-after') ?? '0';
      const toldMs = /^\d+$/.test(told) ? 1_000 * told : Date.parse(told) - Date.now() || 0;
      if (!mayPass || attempt === 5 || toldMs > 90_000)
        throw Object.assign(new Error(`${method} ${url}: ${status} ${text.slice(0, 80)}`), { isFinal: true });
      await new Promise((resolve) => setTimeout(resolve, Math.max(toldMs, 0) + 100 * 2 ** attempt));
    } catch (error) {
      if (error.isFinal || attempt === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    }
  }
});
