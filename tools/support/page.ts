import type { Tool, ToolRow } from './tool.ts';

const kinds: readonly Tool['kind'][] = [
  'Sends requests',
  'Generates code',
  'Checks documents',
  'Shows documents',
  'Receives',
  'Operates',
];

/** The sentences that the page begins with. */
export const introOf = (tools: number, ran: number, date: string) =>
  `On ${date} we tested ${tools} tools that we did not write, each in the version below.
${ran} of them, marked ✓, sent requests to the service, or made code that we built and ran.
\`npm run proof -- tools\` repeats all tests and writes this page.`;

/** The cell that names the version of a tool. */
export const versionOf = ({ package: name, version }: Tool) => (name ? `\`${name}\` ${version}` : version);

/** One row for each tool, in the order of names. */
export function mergeRows(rows: readonly ToolRow[]): ToolRow[][] {
  const byTool = Map.groupBy(rows, ({ name }) => name);
  return [...byTool.values()].sort(([a], [b]) => (a?.name ?? '').localeCompare(b?.name ?? '', 'en'));
}

/** The page `docs/compatible-tools.md`. */
export function toolsPage(rows: readonly ToolRow[], date: string): string {
  const tools = mergeRows(rows);
  return `${[
    '# Compatible tools',
    introOf(tools.length, tools.filter(hasRun).length, date),
    ...kinds.flatMap((kind) => {
      const listed = tools.filter(([row]) => row?.kind === kind);
      return listed.length > 0 ? [`## ${kind}`, tableOf(listed)] : [];
    }),
  ].join('\n\n')}\n`;
}

export const hasRun = (rows: readonly ToolRow[]) => rows.some(({ runs }) => runs);

const line = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const tableOf = (tools: readonly ToolRow[][]) =>
  [
    line('Tool', 'Version', 'What we call', 'What the tests assert', 'Exceptions'),
    line(...Array(5).fill('---')),
    ...tools.map((rows) => {
      const [{ name, url }] = rows as [ToolRow];
      const all = (texts: (row: ToolRow) => readonly string[]) => [...new Set(rows.flatMap(texts))];
      return line(
        `[${name}](${url})${hasRun(rows) ? ' ✓' : ''}`,
        versionOf(rows[0] as ToolRow),
        all(({ called }) => [called]).join('; '),
        all(({ asserts, result }) => [asserts, ...(result ? [`(${result})`] : [])]).join(' '),
        all(({ exemptions = [] }) => exemptions).join(' '),
      );
    }),
  ].join('\n');
