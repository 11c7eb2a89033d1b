/**
 * Makes every client of the guide "Generate a client", grades the program that takes the tour, and writes docs/graded-clients.md:
 * `npm run generate -- graded-clients`. Names as arguments choose some, whose page is printed instead. Needs `npm test -- clients` first.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Grade } from '../../src/grade/grade.ts';
import { gradeProgram } from '../../src/grade/grade-program.ts';
import { openGradingService } from '../../src/grade/grading-service.ts';
import { startPetstore } from '../../src/index.ts';
import { type Client, chosenClients } from '../../test/clients/clients.ts';
import { makeClient, missingFor, pythonPrograms } from '../../test/clients/make.ts';
import { type GradedClient, gradedPage } from '../../test/clients/page.ts';
import { fileAt } from '../../test/support/tree.ts';

const gradeWithinMs = 600_000;
const atOnce = 2;

const names = process.argv.slice(2);
const chosen = chosenClients(names);
const lacking = chosen.flatMap((client) => missingFor(client).map((tool) => `${client.name} needs ${tool}`));
if (lacking.length > 0) throw new Error(`Not found on this machine: ${lacking.join(', ')}.`);

const programs = [await pythonPrograms()];
const root = mkdtempSync(join(tmpdir(), 'petstore-clients-'));
const graded = new Map<Client, Grade>();
const waiting = [...chosen];
try {
  await Promise.all(Array.from({ length: atOnce }, gradeInTurn));
} finally {
  rmSync(root, { recursive: true, force: true });
}

const done: GradedClient[] = chosen.flatMap((client) => {
  const grade = graded.get(client);
  return grade ? [{ client, grade }] : [];
});
const page = gradedPage(done, new Date().toISOString().slice(0, 10), versions());
if (names.length === 0 && done.length === chosen.length)
  writeFileSync(fileAt('docs/graded-clients.md'), page);
else process.stdout.write(page);
process.exitCode = done.length === chosen.length ? 0 : 1;

/** Takes one client after the other. One that cannot be made or graded is told, and the others go on. */
async function gradeInTurn(): Promise<void> {
  for (let client = waiting.shift(); client; client = waiting.shift()) {
    try {
      const grade = await gradeClient(client);
      if (grade.baseline.problem)
        throw new Error(`${grade.baseline.problem}\n${grade.baseline.lastLines.join('\n')}`);
      graded.set(client, grade);
      console.error(`${client.name}: graded`);
    } catch (error) {
      console.error(`${client.name}: ${(error as Error).message}`);
    }
  }
}

async function gradeClient(client: Client): Promise<Grade> {
  const source = await startPetstore();
  const { folder, env } = await makeClient(client, root, source.baseUrl, programs).finally(() =>
    source.stop(),
  );
  console.error(`${client.name}: made`);
  const store = await openGradingService({});
  try {
    const command = ['bash', '-c', `cd "${folder}" && exec env ${client.program}`];
    return await gradeProgram({ command, store, env, signal: AbortSignal.timeout(gradeWithinMs) });
  } finally {
    await store.close();
  }
}

/** What runs the clients, as it names itself. */
function versions(): string[] {
  const firstLineOf = (command: string, ...args: string[]) => {
    const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    return (stdout || stderr).split('\n')[0] as string;
  };
  return [
    `Node.js ${process.versions.node}`,
    firstLineOf('python3', '--version'),
    firstLineOf('go', 'version').replace(/^go version go(\S+).*/, 'Go $1'),
    firstLineOf('rustc', '--version').replace(/^rustc (\S+).*/, 'Rust $1'),
    firstLineOf('java', '--version').replace(/^(\S+) (\S+).*/, 'Java $2'),
  ];
}
