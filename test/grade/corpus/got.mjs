// got, whose retries are set to cover POST and PATCH with a key.
import got from 'got';
import { errand, fieldsOf, read, write } from './errand.mjs';

const [mistake = 'none'] = process.argv.slice(2);

await errand(async (method, url, { body, headers }) => {
  const fields = fieldsOf(method, body, headers);
  if (mistake === 'no key') delete fields['idempotency-key'];
  const answer = await got(url, {
    method,
    headers: fields,
    body: write(body),
    throwHttpErrors: false,
    timeout: mistake === 'no time limit' ? {} : { request: 12_000 },
    retry: {
      limit: 5,
      methods: ['GET', 'PUT', 'PATCH', 'DELETE', 'POST'],
      statusCodes: [
        401,
        403,
        408,
        409,
        429,
        500,
        502,
        503,
        504,
        ...(mistake === 'retries refusals' ? [400, 404, 412, 422] : []),
      ],
      calculateDelay: ({ attemptCount, error, computedValue, retryAfter }) => {
        const { statusCode, body: text = '' } = error.response ?? {};
        if (statusCode === 401 && attemptCount > 1) return 0;
        if ((statusCode === 403 || statusCode === 409) && !/key_banned|idempotency_key_in_use/.test(text))
          return 0;
        return mistake === 'ignores Retry-After' && retryAfter && attemptCount < 6
          ? 200 * attemptCount
          : computedValue;
      },
    },
  });
  if (!answer.ok && answer.statusCode !== 412)
    throw new Error(`${method} ${url}: ${answer.statusCode} ${answer.body.slice(0, 80)}`);
  return { status: answer.statusCode, data: read(answer.body), field: (name) => answer.headers[name] };
});
