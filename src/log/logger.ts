import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config.ts';
import { withoutSecrets } from '../redact.ts';

/** Maximum characters of a field, which may hold text of a caller, and of a field of an error, which has a stack. */
const maxFieldLength = 1_000;
const maxErrorFieldLength = 4_000;

/**
 * A logger that writes JSON lines, or what `format` makes of them. No API key, no secret of a webhook and no password of an
 * address gets through, wherever it is in a line.
 */
export function createLogger(
  level: LogLevel,
  stream: DestinationStream,
  format: (json: string) => string = (json) => json,
): FastifyBaseLogger {
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
      hooks: { streamWrite: (json) => format(withoutSecrets(json)) },
    },
    stream,
  );
}

/** Every line of the service passes here, so it copies nothing unless a field is long. */
function cutFields(fields: Record<string, unknown>, maxLength: number): Record<string, unknown> {
  let cut = fields;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string' && value.length > maxLength)
      cut = { ...cut, [name]: cutText(value, maxLength) };
  }
  return cut;
}

/** Secrets are removed first: half a key would not be recognized. */
function cutText(text: string, maxLength: number): string {
  const clean = withoutSecrets(text);
  const more = clean.length - maxLength;
  return more > 0 ? `${clean.slice(0, maxLength)}… (${more} characters more)` : clean;
}
