import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config.ts';
import { withoutSecrets } from '../redact.ts';

/** Characters of one field, which may hold what a caller sent, and of each field of an error, which has a stack. */
const maxFieldLength = 1_000;
const maxErrorFieldLength = 4_000;

/** A logger that writes JSON lines. No API key and no password of an address gets through, wherever in a line it stands. */
export function createLogger(level: LogLevel, stream: DestinationStream): FastifyBaseLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => cutFields(fields, maxFieldLength),
      },
      serializers: {
        err: (error: Error) => cutFields(pino.stdSerializers.err(error), maxErrorFieldLength),
      },
      hooks: { streamWrite: withoutSecrets },
    },
    stream,
  );
}

/** Every line of the service goes through here, so that nothing is copied where nothing is long. */
function cutFields(fields: Record<string, unknown>, maxLength: number): Record<string, unknown> {
  let cut = fields;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string' && value.length > maxLength)
      cut = { ...cut, [name]: cutText(value, maxLength) };
  }
  return cut;
}

/** Secrets are taken out first, for half a key is not recognized as one. */
function cutText(text: string, maxLength: number): string {
  const clean = withoutSecrets(text);
  const more = clean.length - maxLength;
  return more > 0 ? `${clean.slice(0, maxLength)}… (${more} characters more)` : clean;
}
