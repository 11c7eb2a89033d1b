/** The oldest Node.js that runs the npm package. 23 lacks parts that 22.16 has. */
export const neededNode = '22.16';

/** Throws a message for the user if this Node.js is too old. Imports nothing, and every Node.js can read it. */
function assertNode(): void {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  const version = process?.versions?.node;
  // Deno and Bun have a version of Node.js, too. It does not say what they can do.
  if (version === undefined || 'Deno' in globalThis || 'Bun' in globalThis) return;
  const [[line = 0, least = 0], [major = 0, minor = 0]] = [neededNode, version].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  if (major > line + 1 || (major === line && minor >= least)) return;
  throw new Error(`Petstore needs Node.js ${neededNode} or newer (not 23). This is ${version}.`);
}

assertNode();
