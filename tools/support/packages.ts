import { createRequire } from 'node:module';

/** A package of the tools, or of a folder of them, without its types: the type check runs without these packages. */
// biome-ignore lint/suspicious/noExplicitAny: it has no types here
export function load(name: string, folder = '.'): any {
  const loaded = createRequire(new URL(`../${folder}/package.json`, import.meta.url))(name);
  return loaded.default ?? loaded;
}
