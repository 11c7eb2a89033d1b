// ky, with its own retries.
import ky from 'ky';
import { errand, fieldsOf, read, write } from './errand.mjs';

const [mistake = 'none'] = process.argv.slice(2);
const methods = ['get', 'put', 'patch', 'delete', 'post'];

await errand(async (method, url, { body, headers }) => {
  const fields = fieldsOf(method, body, headers);
  if (mistake === 'no key') delete fields['idempotency-key'];
  const problemOf = (status, text) =>
    Object.assign(new Error(`${method} ${url}: ${status} ${text.slice(0, 80)}`), { isFinal: true });
  // ky does not retry when a body ends too soon, or when a key is banned. After 503 without Retry-After it would wait for the end of the rate limit.
  for (let attempt = 1; ; attempt++) {
    let waitMs = 200 * 2 ** attempt;
    const limit = new AbortController();
    let timer;
    try {
      const answer = await ky(url, {
        method,
        headers: fields,
        body: write(body),
        signal: limit.signal,
        timeout: mistake === 'no time limit' ? false : 8_000,
        retry: {
          limit: 5,
          methods,
          statusCodes: [408, 429, 500, 502, 504],
          ...(mistake === 'ignores Retry-After' && { afterStatusCodes: [] }),
        },
      }).catch((error) => error.response ?? Promise.reject(error));
      // The timeout of ky covers only the head.
      timer = mistake.startsWith('no time limit') ? undefined : setTimeout(() => limit.abort(), 8_000);
      const text = await answer.text();
      const field = (name) => answer.headers.get(name) ?? undefined;
      if (answer.ok || answer.status === 412) return { status: answer.status, data: read(text), field };
      const mayPass =
        answer.status === 503 ||
        /key_banned|idempotency_key_in_use/.test(text) ||
        (answer.status === 401 && attempt === 1);
      if (!mayPass || attempt === 5) throw problemOf(answer.status, text);
      const told = field('retry-after') ?? '0';
      waitMs = Math.max(waitMs, /^\d+$/.test(told) ? 1_000 * told + 100 : Date.parse(told) - Date.now() || 0);
      if (waitMs > 90_000) throw problemOf(answer.status, text);
    } catch (error) {
      if (error.isFinal || attempt === 5) throw error;
    } finally {
      clearTimeout(timer);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
});
