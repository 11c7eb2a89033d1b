/** Numbers, durations and other texts for people. Browsers use this file, too. */

/** A number with separators, such as `1,000`. `toLocaleString` would cost 10 ms at the start. */
export const grouped = (number: number) => String(number).replaceAll(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',');

/** Formats an integer that rarely repeats. V8 caches what `String` makes, and thousands a second would fill the old space. */
export const digits = (integer: number): string => JSON.stringify(integer);

/** `1 request`, `1,024 requests`. */
export const counted = (count: number, noun: string) => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

/** The first items, and how many more there are: `and 3 more lines`. */
export const firstOf = (items: readonly string[], most: number, noun: string): string[] => {
  const rest = items.length - most;
  return rest > 0 ? [...items.slice(0, most), `and ${counted(rest, `more ${noun}`)}`] : [...items];
};

/** A size, such as `64 KiB`. */
export const kibibytes = (bytes: number) => `${grouped(bytes / 1024)} KiB`;

/** `1st`, `2nd`, `11th`. */
export function nth(count: number): string {
  const ending = /1\d$/.test(String(count)) ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[count % 10];
  return `${count}${ending ?? 'th'}`;
}

export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The first sentence of a text, in one line, and the rest. */
export function firstSentence(text: string): [first: string, rest: string] {
  const [, first = text, rest = ''] = /^(.*?\.)\s+(.*)$/s.exec(text) ?? [];
  return [first.replaceAll('\n', ' '), rest];
}

/** The first `most` characters of a text, and `…` if there are more. */
export const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;

/** `1.5 s` */
export const inSeconds = (ms: number, digits = 1) => `${(ms / 1_000).toFixed(digits)} s`;

/** `61 ms`, `0.7 s`, `12 s` */
export const roundedDuration = (ms: number) =>
  ms < 100 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 0))} s`;

/** `3.2 ms`, `125 ms`, `2.004 s`, `1 min 5 s` */
export function preciseDuration(ms: number): string {
  if (ms < 9.95) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_999.5) return `${Number((ms / 1_000).toFixed(3))} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
}

/** `1 minute 30 seconds` */
export function durationInWords(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, unit]) => counted(count, unit));
  return words.join(' ') || '0 seconds';
}

/** A table in Markdown. */
export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
