import { createInterface } from 'node:readline';

/**
 * Asks whoever is at the terminal, and throws unless the answer is yes. Where nobody could answer, as in a script, nothing is
 * asked.
 */
export async function confirm(question: string): Promise<void> {
  const output = [process.stderr, process.stdout].find(({ isTTY }) => isTTY);
  if (!process.stdin.isTTY || !output) return;
  const terminal = createInterface({ input: process.stdin, output });
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve('no')).question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.');
}
