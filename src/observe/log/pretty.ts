import { isIP } from 'node:net';
import { styleText } from 'node:util';
import type { LogFormat } from '../../foundation/settings/config.ts';
import { escapeTerminal, escapeWord } from '../../foundation/terminal-text.ts';
import { cut } from '../../foundation/words.ts';

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

/**
 * A JSON line of the log in the form for a terminal: the time of the day, what happened, and the stack of an error below it.
 * Its text is escaped, so it cannot control the terminal or look like another line.
 */
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
