import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { createPetstore, type Event, type Int64, PetstoreError, writeExactly } from '../client/index.ts';
import { eventTypes } from '../client/operations.ts';
import { secretPrefix } from '../foundation/settings/secret-key.ts';
import { escapeTerminal } from '../foundation/terminal-text.ts';
import { fetchFailureReason, messageOf, type ServiceAccess } from '../service/start/running-service.ts';
import { signedHeaders } from '../store/webhooks/signature.ts';
import { parseUrl, readAccess, withServiceOptions } from './find-service.ts';
import { note } from './terminal.ts';

export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('Test webhooks without a public address.');

  const command = webhooks
    .command('listen')
    .description(
      'Print events as they happen. With --forward, also post them to a local address, signed like webhooks.',
    )
    .option('--forward <url>', 'address to post each event to, such as http://localhost:3000/hooks', parseUrl)
    .option('--type <type...>', `only events of these types: ${eventTypes.join(', ')}`)
    .option('--after <id>', 'start after this event instead of now; 0 is the beginning', parsePosition);
  withServiceOptions(command)
    .addOption(
      new Option(
        '--secret <secret>',
        'secret to sign with; by default derived from the key, so it is the same each time',
      ).argParser(parseSecret),
    )
    .option('--json', 'print each event as JSON on a line')
    .action(async (options) => {
      const client = await readAccess(options);
      await listen({
        ...client,
        find: () => readAccess(options),
        types: options.type ?? [],
        after: options.after,
        forwardTo: options.forward,
        secret: options.secret ?? secretOf(client.key),
        asJson: options.json === true,
      });
    });

  return webhooks;
}

/** The secret is derived from the key, so it stays the same while a receiver is developed. */
const secretOf = (key: string) => secretPrefix + hash('sha256', `petstore webhooks listen ${key}`, 'base64');

function parsePosition(text: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id))
    throw new InvalidArgumentError('It must be the id of an event, or 0.');
  return id;
}

/** Parses a secret that signs webhooks. */
export function parseSecret(text: string): string {
  const bytes = Buffer.from(text.slice(secretPrefix.length), 'base64');
  if (!text.startsWith(secretPrefix) || bytes.length < 24)
    throw new InvalidArgumentError(`It must be ${secretPrefix} followed by at least 24 bytes in Base64.`);
  return text;
}

interface ListenOptions extends ServiceAccess {
  /** Finds the service again. It may have restarted on another port. Rejects if there is none. */
  find: () => Promise<ServiceAccess>;
  /** The types of events; empty for all types. */
  types: readonly string[];
  /** The id of the event after which to begin. Default: begin now. */
  after?: Int64 | undefined;
  /** Where to post each event. Default: events are only printed. */
  forwardTo?: URL | undefined;
  secret: string;
  asJson: boolean;
}

const forwardWithinMs = 15_000;
const leastRetryMs = 2_000;

/** Prints or forwards events, and continues after interruptions. Throws if the service would refuse every further request. */
async function listen(options: ListenOptions): Promise<never> {
  const { forwardTo, secret } = options;
  if (forwardTo) note(`Forwarding to ${forwardTo.href}, signed with the secret ${secret}`);
  let { after } = options;
  for (let service: ServiceAccess | undefined = options; ; service = await findAgain(options)) {
    const end: StreamEnd = service ? await readStream(service, { ...options, after }) : { after };
    after = end.after;
    const askedMs = end.retryAt ? end.retryAt.getTime() - Date.now() : 0;
    await sleep(Math.max(leastRetryMs, askedMs));
  }
}

/** Finds the service again before the key is sent, because another program may use the port by now. */
async function findAgain({ find }: ListenOptions): Promise<ServiceAccess | undefined> {
  try {
    return await find();
  } catch (error) {
    note(`${(error as Error).message} Trying again.`);
    return undefined;
  }
}

/** The event after which to continue, and the earliest time of the next request. */
interface StreamEnd {
  after: Int64 | undefined;
  retryAt?: Date | undefined;
}

/** The normal end of a stream. */
const ended = new PetstoreError({ code: 'no_answer', message: 'The stream ended.' });

/** Handles the events of one stream. Throws if the service would refuse every further request. */
async function readStream({ baseUrl, key }: ServiceAccess, options: ListenOptions): Promise<StreamEnd> {
  let { after } = options;
  let isOpen = false;
  const store = createPetstore({ baseUrl, apiKey: key, attempts: 1 });
  const query = { type: options.types, after } as Parameters<typeof store.streamEvents>[0];
  const events = store.streamEvents(query, {
    onOpen(begin) {
      isOpen = true;
      after ??= begin;
      note(`Listening to ${baseUrl}. End with Ctrl-C.`);
    },
    onBreak(failure) {
      throw failure ?? ended;
    },
  });
  try {
    for await (const event of events) {
      await handle(event, options);
      after = event.id;
    }
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    if (isOpen) noteBreak(error);
    else if (error.status === 410) note(`${refusalIn(error)} Continuing from now.`);
    else noteFailure(error, baseUrl);
    return { after: error.status === 410 ? undefined : after, retryAt: error.retryAt };
  }
  return { after };
}

function noteBreak(error: PetstoreError): void {
  // The error for a silent stream has no further reason.
  const isSilent = error.cause instanceof PetstoreError;
  if (error !== ended && !isSilent)
    note(`The stream broke (${fetchFailureReason(error.code === 'no_answer' ? error.cause : error)}).`);
  note('The stream ended. Continuing after the last event.');
}

/** Throws if another request would get the same response. */
function noteFailure(error: PetstoreError, baseUrl: string): void {
  const { status } = error;
  const isFinal = status && status >= 300 && status < 500 && ![403, 429].includes(status);
  if (isFinal) throw new Error(refusalIn(error), { cause: error });
  const problem = status
    ? refusalIn(error)
    : `${baseUrl} cannot be reached (${fetchFailureReason(error.cause ?? error)}).`;
  note(`${problem} Trying again.`);
}

const refusalIn = (error: PetstoreError) => messageOf(error) ?? `The response is ${error.status}.`;

async function handle(event: Event, { forwardTo, secret, asJson }: ListenOptions): Promise<void> {
  const json = writeExactly(event);
  const outcome = forwardTo && ` → ${await forward(forwardTo, event, json, secret)}`;
  const line = `#${event.id} ${event.timestamp} ${event.type}${outcome ?? ` ${writeExactly(event.data)}`}`;
  console.log(escapeTerminal(asJson ? json : line));
  if (asJson && outcome) note(`#${event.id}${outcome}`);
}

/** Posts an event once, signed like the service does it. Returns the outcome in words. */
async function forward(url: URL, event: Event, body: string, secret: string): Promise<string> {
  const startedMs = performance.now();
  const message = { id: `evt_listen_${event.id}`, atMs: Date.now(), body };
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signedHeaders(message, [secret]) },
      signal: AbortSignal.timeout(forwardWithinMs),
    });
    await response.body?.cancel();
    return `${response.status} in ${Math.round(performance.now() - startedMs)} ms`;
  } catch (error) {
    return `failed: ${fetchFailureReason(error)}`;
  }
}
