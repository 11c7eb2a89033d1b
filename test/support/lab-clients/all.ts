export { bystanders } from './bystanders.ts';

import type { Pair } from './client.ts';
import { contents } from './contents.ts';
import { retries } from './retries.ts';
import { use } from './use.ts';
import { waiting } from './waiting.ts';

/** For each check, by its name, a client that passes it and a client that fails it. */
export const pairs: Record<string, Pair> = { ...waiting, ...retries, ...contents, ...use };
