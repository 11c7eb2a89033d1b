// Adds pets, and creates a category for each one when its event arrives on the stream. Correct, except for the mistake in its argument.
import { setTimeout as sleep } from 'node:timers/promises';
import { read, write } from './errand.mjs';

const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key } = process.env;
const [mistake = 'none'] = process.argv.slice(2);
const temporary = [408, 429, 500, 502, 503, 504];
const attempts = 6;
const [answerMs, silenceMs] = [8_000, 20_000];

/** Sends a request until it has a usable response. A stream is returned as soon as it begins. */
async function send(method, target, { body, headers, limit } = {}) {
  const once = crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    let waitMs = 150 * 2 ** attempt * (1 + Math.random());
    try {
      const answer = await fetch(api + target, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(method === 'POST' && { 'idempotency-key': once }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: write(body),
        signal: limit?.signal ?? AbortSignal.timeout(answerMs),
      });
      if (answer.ok && limit) return answer;
      const text = await answer.text();
      if (answer.ok) return read(text);
      const told = answer.headers.get('retry-after') ?? '0';
      const toldMs = /^\d+$/.test(told) ? 1_000 * told : Date.parse(told) - Date.now() || 0;
      const mayPass =
        /key_banned|idempotency_key_in_use/.test(text) || (answer.status === 401 && attempt === 1);
      if (attempt === attempts || toldMs > 90_000 || !(temporary.includes(answer.status) || mayPass))
        throw Object.assign(new Error(`${method} ${target}: ${answer.status} ${text.slice(0, 80)}`), {
          isFinal: true,
        });
      waitMs = Math.max(waitMs, toldMs + 50);
    } catch (error) {
      if (error.isFinal || attempt === attempts || limit?.signal.aborted) throw error;
    }
    await sleep(waitMs);
  }
}

const isOfOneType = mistake === 'follows one type';
const stream = `/store/events/stream${isOfOneType ? '?type=pet.created' : ''}`;

/** Yields events, and continues after the last one when a stream breaks. */
async function* events() {
  let after;
  let first;
  for (;;) {
    const limit = new AbortController();
    const watch = () =>
      mistake === 'no time limit' ? undefined : setTimeout(() => limit.abort(), silenceMs);
    let timer = watch();
    try {
      const place = mistake === 'sends its first position' ? first : after;
      const headers = { accept: 'text/event-stream', ...(place !== undefined && { 'last-event-id': place }) };
      const { body, headers: fields } = await send('GET', stream, { headers, limit });
      if (mistake !== 'begins anew') after ??= fields.get('last-event-id') ?? undefined;
      first ??= after;
      yield { type: 'open' };
      const decoder = new TextDecoder();
      let rest = '';
      for await (const piece of body) {
        clearTimeout(timer);
        timer = watch();
        rest +=
          mistake === 'decodes each piece alone'
            ? new TextDecoder().decode(piece)
            : decoder.decode(piece, { stream: true });
        const blocks = rest.split(mistake === 'knows one line end' ? '\n\n' : /\r?\n\r?\n/);
        rest = mistake === 'takes a piece for an event' ? '' : blocks.pop();
        for (const block of blocks) {
          const field = (name) => {
            const lines = [...block.matchAll(new RegExp(`^${name}: ?(.*)$`, 'gm'))].map(([, value]) => value);
            return mistake === 'reads one line of data' || lines.length === 0 ? lines[0] : lines.join('\n');
          };
          if (mistake !== 'begins anew')
            after = field('id') ?? (mistake === 'forgets its position' ? undefined : after);
          if (field('data')) yield read(field('data'));
        }
        if (mistake === 'notes ids too early') after = /^id: ?(\d+)$/m.exec(rest)?.[1] ?? after;
      }
    } catch (error) {
      const isGap = mistake === 'forgets gaps' && / 410 /.test(error.message);
      if (error.isFinal && !isGap) throw error;
      if (isGap) after = undefined;
    } finally {
      clearTimeout(timer);
    }
    await sleep(1_000);
  }
}

const names = ['Fáfnir', 'Jörmungandr', 'Níðhöggr', 'Smaug'];
const seen = new Set();
let adding;
for await (const { type, data } of events()) {
  if (type === 'open')
    adding ??= (async () => {
      for (const name of names) {
        await send('POST', '/pets', { body: { name, categoryId: 1 } });
        // Else all events may arrive before the stream is cut.
        if (mistake === 'forgets its position') await sleep(300);
      }
    })();
  if (type !== 'pet.created') continue;
  if (seen.has(data.id) && mistake !== 'sends its first position') continue;
  seen.add(data.id);
  await send('POST', '/categories', { body: { name: `About ${data.name}` } });
  console.log(`There is ${data.name}.`);
  if (seen.size === names.length) break;
}
await adding;
process.exit();
