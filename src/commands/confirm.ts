import { createInterface } from 'node:readline';

/**
 * Asks whoever is at the terminal, and throws unless the answer is yes. Where nobody could answer, as in a script, nothing is
 * asked. Who could answer but would not see the question is refused.
 */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) return;
  const output = [process.stderr, process.stdout].find(({ isTTY }) => isTTY);
  if (!output)
    throw new Error('Nothing was changed, since no terminal shows the question. --yes does without it.');
  const terminal = createInterface({ input: process.stdin, output });
  const answer = await new Promise<string | undefined>((resolve) => {
    terminal
      .once('close', () => resolve(undefined))
      .once('SIGINT', () => {
        terminal.close();
        output.write('\n');
        // As the terminal itself does, to this and to who waits for it: a loop in a shell ends, too.
        process.kill(0, 'SIGINT');
      })
      .question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  if (answer === undefined) output.write('\n');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new Error('Nothing was changed.');
}
