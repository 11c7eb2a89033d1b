import { type InspectColor, styleText } from 'node:util';
import { withoutCutEnd, withoutSecrets } from '../foundation/redact.ts';
import { columnsOf, escapeTerminal } from '../foundation/terminal-text.ts';
import { capitalized } from '../foundation/words.ts';
import { happened } from './card/card.ts';
import { lineOf } from './card/text.ts';
import { verdictInWords } from './card/words.ts';
import { type FaultRun, type GradeProgress, withoutFaults } from './grade.ts';
import { rankOf } from './verdict.ts';

/** Where progress is written, such as standard error. */
export interface Screen {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Shows the progress, and the output of the program. */
interface ProgressReporter {
  report(progress: GradeProgress): void;
  /** Shows output of the program in a run, `lost-answer, middle use` for example, if `isVerbose`. */
  showOutput(text: string, run?: string): void;
  /** Ends the report: erases the line that changes, or shows incomplete last lines. */
  end(): void;
}

const barLength = 24;
/** How many characters of an output line are shown. */
const maxLineLength = 65_536;
/** Returns to the start of the line and erases it. */
const eraseLine = '\r\u001b[2K';

/** Reports on a terminal in one line that changes. Without a terminal, or if `isVerbose`, writes a line for each run that has ended. */
export function progressOn(screen: Screen, { isVerbose = false } = {}): ProgressReporter {
  if (screen.isTTY && process.env.TERM !== 'dumb' && !isVerbose) return liveLine(screen);
  return plainLines(screen, isVerbose);
}

function plainLines(screen: Screen, isVerbose: boolean): ProgressReporter {
  let [ended, count, nameWidth] = [0, 0, 0];
  /** The incomplete last line of each run. */
  const open = new Map<string, string>();
  const write = (run: string, line: string) => {
    const shown = line.length > maxLineLength ? withoutCutEnd(line.slice(0, maxLineLength)) : line;
    screen.write(`${run}: ${escapeTerminal(withoutSecrets(shown.trimEnd()))}\n`);
  };
  return {
    report(progress) {
      if (progress.stage === 'baseline') screen.write(`${capitalized(withoutFaults)} …\n`);
      if (progress.stage === 'faults') {
        count = progress.runs.length;
        nameWidth = Math.max(...progress.runs.map(({ length }) => length));
      }
      if (progress.stage !== 'ended') return;
      const index = String(++ended).padStart(String(count).length);
      screen.write(`[${index}/${Math.max(count, ended)}] ${lineOf(endedRun(progress), nameWidth)}\n`);
    },
    showOutput(text, run = withoutFaults) {
      if (!isVerbose) return;
      const lines = ((open.get(run) ?? '') + text).split('\n');
      open.set(run, lines.pop()?.slice(0, maxLineLength + 1) ?? '');
      for (const line of lines) write(run, line);
    },
    end() {
      for (const [run, line] of open) if (line !== '') write(run, line);
      open.clear();
    },
  };
}

const endedRun = ({ required, run }: { required: boolean; run: FaultRun }) => ({
  name: run.name,
  rank: rankOf({ ...run, required }),
  ...{ word: verdictInWords(run), happened: withoutSecrets(happened(run)) },
});

function liveLine(screen: Screen): ProgressReporter {
  /** The names of the runs in progress. */
  const running = new Set<string>();
  let [ended, count] = [0, 0];
  const draw = () => {
    const filled = count > 0 ? Math.min(barLength, Math.round((ended / count) * barLength)) : 0;
    const what =
      count > 0 ? `${ended} of ${Math.max(count, ended)}  ${[...running].join(' · ')}` : `${withoutFaults} …`;
    const text = what.slice(0, Math.max(0, columnsOf(screen) - barLength - 3));
    screen.write(
      `${eraseLine}${styled('green', '━'.repeat(filled))}${styled('dim', '━'.repeat(barLength - filled))}  ${text}`,
    );
  };
  return {
    report(progress) {
      if (progress.stage === 'faults') count = progress.runs.length;
      if (progress.stage === 'begun') running.add(progress.run);
      if (progress.stage === 'ended') {
        running.delete(progress.run.name);
        ended++;
      }
      draw();
    },
    showOutput() {},
    end: () => screen.write(eraseLine),
  };
}

const styled = (colour: InspectColor, text: string) => styleText(colour, text, { stream: process.stderr });
