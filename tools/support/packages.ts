import { createRequire } from 'node:module';

const require = createRequire(new URL('../package.json', import.meta.url));

/** A package of the tools, without its types: the type check runs without these packages. */
// biome-ignore lint/suspicious/noExplicitAny: it has no types here
export function load(name: string): any {
  const loaded = require(name);
  return loaded.default ?? loaded;
}
