/** Writes all that is made from the code and must be in the tree: `npm run generate`. */

import { execFileSync } from 'node:child_process';

for (const name of ['openapi', 'client', 'checks', 'card', 'badges'])
  execFileSync(process.execPath, [`${import.meta.dirname}/${name}.ts`], { stdio: 'inherit' });
