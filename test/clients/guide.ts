import { guides } from '../../src/reference/description/guides.ts';

/** A command that installs a package. The checks replace it, to use pinned versions. */
const fetches = /^(?:pip|npm) install |^go get /;

/** The sections of the guide "Generate a client", for an API at `baseUrl`, by their headings. */
function sectionsOf(baseUrl = 'http://localhost:8080/v1'): Map<string, string> {
  const { description } = guides(baseUrl).find(({ name }) => name === 'Generate a client') ?? {};
  const parts = (description ?? '').split(/^### /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part]));
}

/** The lines of commands in each section. */
function linesOf(baseUrl?: string): Map<string, string[]> {
  const linesIn = (section: string) =>
    [...section.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, code = '']) =>
      code.replaceAll('\\\n', '').trim().split('\n'),
    );
  return new Map([...sectionsOf(baseUrl)].map(([heading, section]) => [heading, linesIn(section)]));
}

/** The names in a section's code that take the key, and those of the first calls. */
export function wordsOfUse(heading: string): string[] {
  const section = sectionsOf().get(heading) ?? '';
  const uses = [...section.matchAll(/^- (?:Key|Calls): [\s\S]*?(?=\n- |\n\n)/gm)].join('\n');
  const code = [...uses.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , text]) => text as string);
  const withoutUrls = code.join(' ').replaceAll(/"http[^"]*"/g, '');
  return [...new Set(withoutUrls.match(/[A-Za-z_]{3,}/g))];
}

/** The commands below a heading that generate the client, one a line. */
export function generation(heading: string, baseUrl: string): string {
  const lines = (linesOf(baseUrl).get(heading) ?? []).filter((line) => !fetches.test(line));
  if (lines.length === 0) throw new Error(`The guide has no command below "${heading}".`);
  return lines.join('\n');
}

/** The headings with commands that generate a client. */
export const headings = () =>
  [...linesOf()].filter(([, lines]) => lines.some((line) => !fetches.test(line))).map(([heading]) => heading);

/** The packages that the guide installs. */
export const fetchedPackages = () =>
  [...linesOf().values()]
    .flat()
    .filter((line) => fetches.test(line))
    .flatMap((line) => line.replace(fetches, '').split(' '))
    .filter((word) => !/^-|^\.\//.test(word))
    .map((word) => word.replaceAll('"', ''));
