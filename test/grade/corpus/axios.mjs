// axios with axios-retry.
import axios from 'axios';
import axiosRetry from 'axios-retry';
import { errand, fieldsOf, read, write } from './errand.mjs';

const [mistake = 'none'] = process.argv.slice(2);
const temporary = [408, 429, 500, 502, 503, 504];

function toldMs(response) {
  const told = response?.headers['retry-after'] ?? '0';
  return /^\d+$/.test(told) ? 1_000 * told : Date.parse(told) - Date.now() || 0;
}

const client = axios.create({
  timeout: mistake === 'no time limit' ? 0 : 12_000,
  responseType: 'text',
  transformResponse: (text) => text,
  validateStatus: (status) => (status >= 200 && status < 300) || status === 412,
});
axiosRetry(client, {
  retries: 5,
  shouldResetTimeout: true,
  retryDelay: (count, error) =>
    mistake === 'ignores Retry-After' ? 150 * count : axiosRetry.exponentialDelay(count, error, 150),
  retryCondition: ({ response, config }) => {
    if (mistake === 'a key for each attempt' && config.method === 'post')
      config.headers['idempotency-key'] = crypto.randomUUID();
    // The library would also wait for days if Retry-After says so.
    if (toldMs(response) > 90_000 && mistake !== 'waits for days') return false;
    // The body of a correct response ended too soon.
    if (!response || response.status < 300) return true;
    if (response.status === 401) return config['axios-retry'].retryCount < 1;
    return temporary.includes(response.status) || /key_banned|idempotency_key_in_use/.test(response.data);
  },
});

await errand(async (method, url, { body, headers }) => {
  const fields = fieldsOf(method, body, headers);
  if (mistake === 'no key') delete fields['idempotency-key'];
  const answer = await client.request({ method, url, data: write(body), headers: fields });
  return { status: answer.status, data: read(answer.data), field: (name) => answer.headers[name] };
});
