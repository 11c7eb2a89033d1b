import { isIP } from 'node:net';
import { inspect, styleText } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { withoutSecrets } from '../../foundation/redact.ts';
import type { LogFormat, LogLevel } from '../../foundation/settings/config.ts';
import { escapeTerminal, escapeWord } from '../../foundation/terminal-text.ts';
import { counted, cut } from '../../foundation/words.ts';

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

/** A logger of JSON lines, or lines made by `format`. No API key, webhook secret or password of an address gets through. */
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
        log: cutFields,
      },
      serializers: { err: (error: Error) => cutError(pino.stdSerializers.err(error)) },
      hooks: { streamWrite: finish },
    },
    stream,
  );
  const infoFast: Log['infoFast'] = (fields, msg, traceId) => {
    if (!log.isLevelEnabled('info')) return;
    let line = `{"level":"info","time":"${timeText()}"`;
    for (const name in fields) {
      const value = fields[name];
      const shown = typeof value === 'string' ? cutText(value, maxRequestFieldLength) : value;
      if (shown !== undefined) line += `,"${name}":${JSON.stringify(shown)}`;
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
function cutFields(fields: Record<string, unknown>): Record<string, unknown> {
  let cut = fields;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string' && value.length > maxFieldLength)
      cut = { ...cut, [name]: cutText(value, maxFieldLength) };
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

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;
type Fields = Record<string, unknown>;

/** Text that a caller chose fills two rows at most. */
const maxWordLength = 120;
/** A continuation line is indented. So text that a caller put into an error cannot look like a line of the log. */
const indent = ' '.repeat(10);
const levelStyles: Record<string, Style> = { warn: 'yellow', error: ['red', 'bold'], fatal: ['red', 'bold'] };

/** Makes a JSON line readable. Undefined if the lines stay JSON. */
export function prettyFor(
  format: LogFormat,
  stream: NodeJS.WriteStream,
): ((json: string) => string) | undefined {
  if (format === 'json' || (format === 'auto' && !stream.isTTY)) return undefined;
  const hasColour = styleText('red', '.', { stream }) !== '.';
  return (json) => prettyLine(json, hasColour);
}

/** A line for a terminal: time, what happened, and the stack below. Escaped, so it cannot control the terminal or fake a line. */
function prettyLine(json: string, hasColour: boolean): string {
  const paint: Paint = (style, text) =>
    hasColour ? styleText(style, text, { validateStream: false }) : text;
  const { level, time, msg = '', err, ...fields }: Fields = JSON.parse(json);
  const style = levelStyles[String(level)];
  const parts = [
    paint('dim', new Date(String(time)).toTimeString().slice(0, 8)),
    ...(level === 'info' ? [] : [paint(style ?? 'dim', plain(level).toUpperCase())]),
    ...(msg === 'answered'
      ? request(fields, paint)
      : [style ? paint(style, plain(msg)) : plain(msg), ...list(fields)]),
  ];
  const below = err ? error(err as Fields).map((line) => paint('dim', line)) : [];
  return [parts.join('  '), ...below, ''].join('\n');
}

function request(
  { method, url, status, durationMs, keyId, address, reason }: Fields,
  paint: Paint,
): string[] {
  // A proxy may pass on any text, even one that looks like the id of a key.
  const from = keyId ?? (isIP(String(address)) ? address : JSON.stringify(address));
  return [
    url === undefined ? 'no readable request' : `${word(method)} ${word(url)}`,
    paint(Number(status) < 400 ? 'green' : Number(status) < 500 ? 'yellow' : ['red', 'bold'], word(status)),
    ...(durationMs === undefined ? [] : [`${Number(durationMs).toFixed(1)} ms`]),
    ...[from, reason].filter((part) => part !== undefined).map(word),
  ];
}

function error({ type, message, stack, ...fields }: Fields): string[] {
  const lines = String(stack ?? `${type}: ${message}`).split('\n');
  return [...lines.map(escapeTerminal), ...list(fields)].map((line) => indent + line);
}

const list = (fields: Fields) =>
  Object.entries(fields).map(([name, value]) => `${escapeTerminal(name)}=${quoted(value)}`);

/** A word as it is, and anything else as JSON, so that one sees where it ends. */
const quoted = (value: unknown) =>
  escapeTerminal(typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value));

/** Escapes blanks. They could fill the row, so that the text after them would look like a line of the log. */
const word = (value: unknown) => cut(escapeWord(String(value)), maxWordLength);

const plain = (value: unknown) => escapeTerminal(String(value));
