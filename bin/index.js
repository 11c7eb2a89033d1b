// What `import 'petstore-lab'` loads in this tree. Plain JavaScript, so that an older Node.js can say what it needs.
import { isTooOld, neededMajor } from './needed-node.js';

if (isTooOld)
  throw new Error(
    `Here Petstore is not built, and needs Node.js ${neededMajor}, which "npm ci" installs: begin the command with npx. This is ${process.versions.node}.`,
  );

export const startPetstore = async (options) => (await import('../src/index.ts')).startPetstore(options);
