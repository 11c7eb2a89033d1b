import { inspect } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { withoutSecrets } from '../../foundation/redact.ts';
import type { LogLevel } from '../../foundation/settings/config.ts';
import { counted } from '../../foundation/words.ts';

/** Maximum characters of a field: of the line of a request, which callers write, of other lines, of a stack and of a whole error. */
const maxRequestFieldLength = 200;
const maxFieldLength = 1_000;
const maxStackLength = 3_000;
const maxErrorLength = 4_000;

/** The log of the service. */
export interface Log extends FastifyBaseLogger {
  isLevelEnabled(level: LogLevel): boolean;
  /**
   * Writes the same line as `info` at a third of the cost: `fields` in their order, `msg` and the trace id. pino would check each
   * character of each field. Takes plain values only, and leaves out undefined ones. Names and `msg` must need no escape.
   */
  infoFast(fields: Readonly<Record<string, string | number | undefined>>, msg: string, traceId: string): void;
}

/**
 * A logger that writes JSON lines, or the lines that `format` returns. No API key, no secret of a webhook and no password of an
 * address gets through, wherever it is in a line.
 */
export function createLogger(
  level: LogLevel,
  stream: DestinationStream,
  format: (json: string) => string = (json) => json,
): Log {
  const finish = (json: string) => format(withoutSecrets(json));
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${timeText()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => cutFields(fields, maxFieldLength),
      },
      serializers: {
        err: (error: Error) => cutError(pino.stdSerializers.err(error)),
      },
      hooks: { streamWrite: finish },
    },
    stream,
  );
  const infoFast: Log['infoFast'] = (fields, msg, traceId) => {
    if (!log.isLevelEnabled('info')) return;
    let line = `{"level":"info","time":"${timeText()}"`;
    for (const name in fields) {
      const value = fields[name];
      const cut = typeof value === 'string' ? cutText(value, maxRequestFieldLength) : value;
      if (cut !== undefined) line += `,"${name}":${JSON.stringify(cut)}`;
    }
    stream.write(finish(`${line},"msg":"${msg}","trace_id":"${traceId}"}\n`));
  };
  return Object.assign(log, { infoFast });
}

let timeMs = Number.NaN;
let timeOfMs = '';

/** The time as text. Many lines are of the same millisecond. */
function timeText(): string {
  const nowMs = Date.now();
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeOfMs = new Date(nowMs).toISOString();
  }
  return timeOfMs;
}

/** Every line of the service passes here, so it copies nothing unless a field is long. */
function cutFields<Fields extends Record<string, unknown>>(fields: Fields, maxLength: number): Fields {
  let cut = fields;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string' && value.length > maxLength)
      cut = { ...cut, [name]: cutText(value, maxLength) };
  }
  return cut;
}

/** The fields of an error. Its stack comes before what a program has added. */
function cutError({ type, message, stack, ...added }: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = { type, message, stack, ...added };
  let room = maxErrorLength;
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === 'object' && value !== null ? inspect(value) : value;
    if (typeof text !== 'string') continue;
    const short = cutText(text, Math.min(room, name === 'stack' ? maxStackLength : maxFieldLength));
    room = Math.max(0, room - short.length);
    fields[name] = short;
  }
  return fields;
}

/** Secrets are removed first: half a key would not be recognized. */
function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const clean = withoutSecrets(text);
  const more = clean.length - maxLength;
  return more > 0 ? `${clean.slice(0, maxLength)}… (${counted(more, 'character')} more)` : clean;
}
