/** The oldest major version of Node.js that runs the TypeScript files of this tree. */
export const neededMajor = 26;

export const isTooOld = Number.parseInt(process.versions.node, 10) < neededMajor;
