import { type InspectColor, styleText } from 'node:util';
import { columnsOf } from '../columns.ts';
import type { CheckResult } from '../lab/report/report.ts';
import { printable } from '../printable.ts';
import { withoutCutEnd, withoutSecrets } from '../redact.ts';
import { failuresOf, toEntry } from './card.ts';
import type { Progress } from './grade.ts';
import { lineOf } from './text.ts';

/** What progress is written to, such as standard error. */
export interface Screen {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Tells how far the grading is, and what the program prints meanwhile. */
export interface Teller {
  tell(progress: Progress): void;
  /** Shows what the program prints under a fault, if that is wanted. */
  show(text: string, fault?: string): void;
  /** Nothing more is told. */
  end(): void;
}

const barLength = 24;
/** Of a line that the program prints, so much is shown. */
const maxLineLength = 65_536;
/** Begins the line anew and removes what stood there. */
const eraseLine = '\r\u001b[2K';

/** Tells it at a terminal in one line that changes; elsewhere, and beside what the program prints, in a line for each run that has ended. */
export function progressOn(screen: Screen, { isVerbose = false } = {}): Teller {
  if (screen.isTTY && process.env.TERM !== 'dumb' && !isVerbose) return liveLine(screen);
  return plainLines(screen, isVerbose);
}

function plainLines(screen: Screen, isVerbose: boolean): Teller {
  let [ended, count, nameWidth] = [0, 0, 0];
  let known: CheckResult[] = [];
  /** The beginning of a line of each run. */
  const open = new Map<string, string>();
  const write = (fault: string, line: string) => {
    const shown = line.length > maxLineLength ? withoutCutEnd(line.slice(0, maxLineLength)) : line;
    screen.write(`${fault}: ${printable(withoutSecrets(shown.trimEnd()))}\n`);
  };
  return {
    tell(progress) {
      if (progress.stage === 'baseline') screen.write('Without any fault …\n');
      if (progress.stage === 'faults') {
        count = progress.faults.length;
        known = failuresOf(progress.baseline);
        nameWidth = Math.max(...progress.faults.map(({ length }) => length));
      }
      if (progress.stage !== 'ended') return;
      const place = String(++ended).padStart(String(count).length);
      screen.write(`[${place}/${count}] ${lineOf(toEntry(progress.grade, known), nameWidth)}\n`);
    },
    show(text, fault = 'without any fault') {
      if (!isVerbose) return;
      for (const [index, part] of text.split('\n').entries()) {
        if (index > 0) {
          write(fault, open.get(fault) as string);
          open.set(fault, '');
        }
        const line = open.get(fault) ?? '';
        if (line.length <= maxLineLength) open.set(fault, line + part);
      }
    },
    end() {
      for (const [fault, line] of open) if (line !== '') write(fault, line);
      open.clear();
    },
  };
}

function liveLine(screen: Screen): Teller {
  const running = new Set<string>();
  let [ended, count] = [0, 0];
  const draw = () => {
    const filled = count > 0 ? Math.round((ended / count) * barLength) : 0;
    const what = count > 0 ? `${ended} of ${count}  ${[...running].join(', ')}` : 'without any fault …';
    const text = what.slice(0, Math.max(0, columnsOf(screen) - barLength - 3));
    screen.write(
      `${eraseLine}${dyed('green', '━'.repeat(filled))}${dyed('dim', '━'.repeat(barLength - filled))}  ${text}`,
    );
  };
  return {
    tell(progress) {
      if (progress.stage === 'faults') count = progress.faults.length;
      if (progress.stage === 'begun') running.add(progress.fault);
      if (progress.stage === 'ended') {
        running.delete(progress.grade.fault);
        ended++;
      }
      draw();
    },
    show() {},
    end: () => screen.write(eraseLine),
  };
}

const dyed = (colour: InspectColor, text: string) => styleText(colour, text, { stream: process.stderr });
