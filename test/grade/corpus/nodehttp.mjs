// node:http, which has neither retries nor redirects, and does not notice a truncated body.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errand, fieldsOf, read, write } from './errand.mjs';

const [mistake = 'none'] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
const temporary = [408, 429, 500, 502, 503, 504];

/** Sends a request once, and follows redirects. */
const exchange = (url, options, body, hops = 3) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { agent, ...options });
    const limit = setTimeout(() => request.destroy(new Error('It takes too long.')), 9_000);
    const fail = (error) => {
      clearTimeout(limit);
      reject(error);
    };
    request.on('error', fail).on('response', (answer) => {
      const pieces = [];
      answer.on('error', fail);
      answer.on('data', (piece) => pieces.push(piece));
      answer.on('end', () => {
        clearTimeout(limit);
        const { statusCode: status, headers: fields } = answer;
        if (status !== 307 && status !== 308)
          return resolve({ status, fields, text: Buffer.concat(pieces).toString() });
        const to = new URL(fields.location, url);
        const headers = { ...options.headers };
        if (to.host !== new URL(url).host && mistake !== 'forwards its key') delete headers.authorization;
        const kept = mistake === 'follows redirects without the body' ? undefined : body;
        resolve(
          hops
            ? exchange(to, { ...options, headers }, kept, hops - 1)
            : Promise.reject(new Error('Redirects without end.')),
        );
      });
    });
    request.end(body);
  });

await errand(async (method, url, { body, headers }) => {
  const options = { method, headers: fieldsOf(method, body, headers) };
  for (let attempt = 1; ; attempt++) {
    let waitMs = 120 * 2 ** attempt * (1 + Math.random());
    try {
      const { status, fields, text } = await exchange(url, options, write(body));
      if (status < 300 || status === 412) return { status, data: read(text), field: (name) => fields[name] };
      const mayPass =
        temporary.includes(status) ||
        /key_banned|idempotency_key_in_use/.test(text) ||
        (status === 401 && attempt === 1);
      const told = fields['retry-after'] ?? '0';
      const toldMs = /^\d+$/.test(told) ? 1_000 * told : Date.parse(told) - Date.now() || 0;
      if (attempt === 6 || !mayPass || toldMs > 90_000)
        throw Object.assign(new Error(`${method} ${url}: ${status} ${text.slice(0, 80)}`), { isFinal: true });
      waitMs += Math.max(toldMs, 0);
    } catch (error) {
      if (error.isFinal || attempt === 6) throw error;
    }
    await sleep(waitMs);
  }
});
