import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { plans } from '../../src/foundation/settings/plans.ts';
import { commandLine } from '../../src/main.ts';
import { temporaryFolder } from '../support/folder.ts';
import { bin } from '../support/service.ts';

const bashCompletion = '/usr/share/bash-completion/bash_completion';

/** The command with which each shell completes words. It prints the proposals, one a line. */
const shells = {
  bash: (words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    return [
      ...[`source ${bashCompletion}`, 'source <(petstore completion bash)', 'compopt() { :; }'],
      ...[`COMP_WORDS=(${list})`, `COMP_CWORD=${words.length - 1}`],
      ...[`COMP_LINE='${words.join(' ')}'`, 'COMP_POINT=$' + '{#COMP_LINE}'],
      ...['__petstore_complete', `printf '%s\\n' "$` + '{COMPREPLY[@]}"'],
    ].join('\n');
  },
  // Outside its line editor zsh has no `compadd` and `_describe`. These replacements print their arguments.
  zsh: (words: string[]) =>
    [
      ...['compdef() { :; }', 'source <(petstore completion zsh)'],
      '_describe() { local name=$2; print -l -- "$' + '{(@)$' + '{(@P)name}%%:*}"; }',
      `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}`,
      '_petstore',
    ].join('\n'),
  fish: (words: string[]) =>
    `petstore completion fish | source; complete -C '${words.join(' ')}' | string replace -r '\\t.*' ''`,
};

for (const [shell, script] of Object.entries(shells)) {
  const isInstalled =
    spawnSync(shell, ['--version']).status === 0 && (shell !== 'bash' || existsSync(bashCompletion));
  test(`${shell} completes commands, options and their values from the declarations`, {
    skip: isInstalled || process.env.CI === 'true' ? false : `there is no ${shell} with completion`,
  }, async (t) => {
    const folder = temporaryFolder(t);
    const program = join(folder, 'petstore');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
    chmodSync(program, 0o755);
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, HOME: folder };
    const complete = (...words: string[]) => {
      const { stdout, stderr } = spawnSync(shell, ['-c', script(['petstore', ...words])], {
        env,
        encoding: 'utf8',
      });
      const proposed = stdout.split('\n').map((line) => line.trim());
      return { proposed: proposed.filter(Boolean).sort(), stderr };
    };

    const cli = await commandLine();
    const visible = cli.createHelp().visibleCommands(cli);
    const commands = complete('');
    assert.deepEqual(commands.proposed, visible.map((command) => command.name()).sort(), commands.stderr);

    const grade = cli.commands.find((command) => command.name() === 'grade');
    assert.ok(grade);
    const options = grade.createHelp().visibleOptions(grade);
    const offered = complete('grade', '--');
    assert.deepEqual(offered.proposed, options.map(({ long }) => long).sort(), offered.stderr);

    const values = complete('keys', 'create', '--plan', '');
    assert.deepEqual(values.proposed, Object.keys(plans).sort(), values.stderr);
  });
}
