import { spawn } from 'node:child_process';
import { once } from 'node:events';

const columns = 82;
const [charWidth, lineHeight, fontSize] = [8.4, 21, 14];
const [marginX, marginTop, marginBottom] = [18, 46, 16];
/** Drawn at the size of a terminal, shown at the width of a README. */
const scale = 1.25;
/** When the first output appears, so that the command can be read. */
const readMs = 1_500;

/** A line of output, and when it began to appear. */
export interface Line {
  text: string;
  atMs: number;
}

/** Runs a command in a terminal of its own, and returns what that shows. */
export async function record(command: string, env: NodeJS.ProcessEnv): Promise<Line[]> {
  // Only in a terminal does a program write each line at once, and both of its outputs in order.
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const startMs = performance.now();
  const lines: Line[] = [];
  let isOpen = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const atMs = performance.now() - startMs;
    for (const [, text, end] of chunk.matchAll(/([^\r\n]*)(\r?\n|$)/g)) {
      if (isOpen) (lines.at(-1) as Line).text += text;
      else if (text || end) lines.push({ text: text as string, atMs });
      isOpen = end ? false : isOpen || text !== '';
    }
  });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${JSON.stringify(lines)}`);
  return lines;
}

interface Row {
  text: string;
  atMs: number;
  kind: 'comment' | 'command' | 'answer' | 'refusal' | 'warning';
}

/** The names of the styles that programs give to text, by their numbers. */
const styles: Record<string, string> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
};
/** Ends a style, or begins one. */
const styling = /\p{Cc}\[(\d*)m/u;

/** Draws a terminal, in which output appears when it did. Where nothing moves, all of it is there. */
export function drawTerminal({ shown, printed }: { shown: string[]; printed: Line[] }): string {
  const typed: Row[] = shown.map((line) => ({
    text: `${/^ /.test(line) ? '>' : '$'} ${line}`,
    atMs: 0,
    kind: line.startsWith('#') ? 'comment' : 'command',
  }));
  const output: Row[] = printed.flatMap(({ text, atMs }) =>
    wrap(text).map((part) => ({ text: part, atMs: atMs + readMs, kind: kindOf(text) })),
  );
  const endMs = (output.at(-1)?.atMs ?? 0) + 200;
  const rows: Row[] = [...typed, ...output, { text: '$ \u2588', atMs: endMs, kind: 'command' }];
  const width = Math.ceil(2 * marginX + columns * charWidth);
  const height = marginTop + rows.length * lineHeight + marginBottom;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.round(width * scale)}" height="${Math.round(height * scale)}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(shown.join('\n'))}</title>
<style>
text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; white-space: pre; fill: #e6edf3 }
.bold { font-weight: 600 } .dim { fill: #8b949e } .red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #76e3ea }
.comment { fill: #8b949e } .command { fill: #ffffff; font-weight: 600 } .refusal { fill: #ff7b72 } .warning { fill: #e3b341 }
@media (prefers-reduced-motion: no-preference) { .late { animation: appear 1ms both } }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#3d444d"/>
<circle cx="24" cy="20" r="6" fill="#ff5f57"/><circle cx="44" cy="20" r="6" fill="#febc2e"/><circle cx="64" cy="20" r="6" fill="#28c840"/>
${rows.map(drawRow).join('\n')}
</svg>
`;
}

function drawRow({ text, atMs, kind }: Row, index: number): string {
  const y = marginTop + (index + 0.7) * lineHeight;
  const late = atMs > 0 ? ` late" style="animation-delay:${Math.round(atMs)}ms` : '';
  const parts = text.split(styling);
  const shown = parts.filter((_, i) => i % 2 === 0).join('');
  return `<text x="${marginX}" y="${y.toFixed(1)}" textLength="${(shown.length * charWidth).toFixed(1)}" lengthAdjust="spacingAndGlyphs" class="${kind}${late}">${drawParts(parts)}</text>`;
}

/** Draws texts, between which stand the numbers of styles that begin or end. */
function drawParts(parts: string[]): string {
  let begun: string[] = [];
  return parts
    .map((part, i) => {
      if (i % 2 === 0)
        return begun.length > 0
          ? `<tspan class="${begun.join(' ')}">${escaped(part)}</tspan>`
          : escaped(part);
      const style = styles[part];
      begun = style
        ? [...begun, style]
        : begun.filter((one) => (one === 'bold' || one === 'dim') === (part === '39'));
      return '';
    })
    .join('');
}

/** The parts of a line in which a terminal shows it. One with styles is taken to fit. */
const wrap = (text: string) =>
  styling.test(text) ? [text] : (text.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']);

function kindOf(text: string): Row['kind'] {
  if (text.startsWith('Warning')) return 'warning';
  return /"status":4\d\d/.test(text) ? 'refusal' : 'answer';
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
