// undici with its RetryAgent.
import { Agent, RetryAgent, request } from 'undici';
import { errand, fieldsOf, read, write } from './errand.mjs';

const [mistake = 'none'] = process.argv.slice(2);
const limits =
  mistake === 'no time limit'
    ? { headersTimeout: 0, bodyTimeout: 0 }
    : { headersTimeout: 12_000, bodyTimeout: 12_000 };
const dispatcher = new RetryAgent(new Agent(limits), {
  maxRetries: 5,
  minTimeout: 150,
  timeoutFactor: 2,
  throwOnError: false,
  methods: ['GET', 'PUT', 'PATCH', 'DELETE', 'POST'],
  statusCodes: [408, 429, 500, 502, 503, 504],
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
      const mayPass = /key_banned|idempotency_key_in_use/.test(text) || (status === 401 && attempt === 1);
      if (!mayPass)
        throw Object.assign(new Error(`${method} ${url}: ${status} ${text.slice(0, 80)}`), { isFinal: true });
      await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(field('retry-after') ?? 0) + 100));
    } catch (error) {
      if (error.isFinal || attempt === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    }
  }
});
