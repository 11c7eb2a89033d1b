// A small client for the demos. Its requests are traffic like that of any client: they count, and are recorded and judged.

import { randomId } from '../../client/platform.ts';
import { apiUrl, demoId } from './api.ts';
import type { FaultInPlan } from './fault-plan.ts';
import type { KeyContext } from './panel.ts';
import type { Session } from './session.ts';
import { sleep } from './times.ts';

/** Longer than the service takes for any request. */
const timeoutMs = 30_000;
/** The rehearsal expires by itself if the page is closed. */
const rehearsalSeconds = 60;

interface Init {
  method?: string;
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

let sent = 0;

/** Sends a request to the API with the key of a session. */
export function sendAsClient(
  session: Session,
  path: string,
  { method = 'GET', body, headers, signal }: Init = {},
) {
  const ended = [session.signal, AbortSignal.timeout(timeoutMs)];
  return fetch(apiUrl + path, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${session.key}`,
      'x-request-id': demoId(`${Date.now().toString(36)}-${++sent}`),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    cache: 'no-store',
    redirect: 'manual',
    signal: AbortSignal.any(signal ? [...ended, signal] : ended),
  });
}

/** Runs a client under faults, in place of those that were on, while a recording is active. Throws if one of the three fails. */
export async function runUnder(
  { recording, rehearsal }: KeyContext,
  faults: readonly FaultInPlan[],
  client: () => Promise<void>,
): Promise<void> {
  await recording.start();
  const refusal = await rehearsal.perform(() => faults, rehearsalSeconds);
  if (refusal) throw new Error(refusal.reason);
  try {
    await client();
  } finally {
    await rehearsal.perform(() => [], rehearsalSeconds);
  }
}

/** Performs `careless`: it retries after half a second, though `Retry-After` says 2. All else it does well. */
export const tryWithoutClient = (context: KeyContext): Promise<void> =>
  runUnder(
    context,
    [
      { fault: 'internal-error', operation: 'listPets' },
      { fault: 'rate-limited', operation: 'listCategories', retryAfterSeconds: 2 },
      { fault: 'gateway-timeout', operation: 'placeOrder' },
    ],
    () => careless(context.session),
  );

async function careless(session: Session): Promise<void> {
  const pets = await retried(session, '/pets?limit=2', [300]);
  await retried(session, '/categories', [500, 2_100]);
  const [pet] = (await pets.json()) as { id: number }[];
  if (!pet) return;
  await retried(session, `/inventory/${pet.id}`, []);
  const order = { petId: pet.id, quantity: 1 };
  const headers = { 'idempotency-key': randomId() };
  await retried(session, '/store/orders', [600], { method: 'POST', body: order, headers });
}

/** Sends a request again after each of these waits, until it succeeds. */
async function retried(
  session: Session,
  path: string,
  waitsMs: readonly number[],
  init?: Init,
): Promise<Response> {
  let answer = await sendAsClient(session, path, init);
  for (const waitMs of waitsMs) {
    if (answer.ok) break;
    await sleep(waitMs);
    answer = await sendAsClient(session, path, init);
  }
  return answer;
}
