import { inSeconds, roundedDuration } from '../../foundation/words.ts';
import { faultNamed } from '../../lab/faults/list.ts';
import { selectorOf } from '../../lab/rehearsals/fault-selector.ts';
import type { Changes } from '../card-schema.ts';
import { type Ending, type FaultRun, isAffectedBy, type Verdict } from '../grade.ts';
import { useInWords } from '../run/plan.ts';

export const rankMarks = { 'must-fix': '✗', 'should-fix': '!', survived: '✓', 'not-reached': '–' } as const;

export const verdictWords: Record<Verdict, string> = {
  survived: 'survived',
  'did-it-twice': 'did it twice',
  'left-undone': 'left it undone',
  'did-something-else': 'did something else',
  'printed-something-else': 'printed something else',
  'reported-failure': 'reported the failure, but exited with 0',
  failed: 'failed',
  hung: 'hung',
  'not-reached': 'not tried',
};

/** A verdict in words, with the exit status of a program that failed. With exit status 0, its last line says that it failed. */
export function verdictInWords(run: { verdict: Verdict; exitStatus?: number | undefined }): string {
  const { verdict, exitStatus } = run;
  if (verdict !== 'failed') return verdictWords[verdict];
  return exitStatus === 0 ? 'failed (its last line says so)' : `failed (exit status ${exitStatus})`;
}

/** Where a fault was performed. */
export interface Use {
  /** `lost-answer at the 4th createPet` */
  name: string;
  /** The value of `--fault` that performs the fault there again. Undefined without faults. */
  selector: string | undefined;
}

/** The use of one of the requests `ids` that a fault affected. If that is unclear, the whole fault as it was given. */
export function useOf(fault: string, run: FaultRun, ids: readonly string[] = []): Use {
  const own = run.faults.filter((planned) => planned.fault === fault);
  const affected = run.requests.filter((request) => ids.includes(request.id) && isAffectedBy(fault, request));
  const fitting = own.filter((planned) => affected.some((one) => one.operation === planned.operation));
  const [planned, ...others] = fitting.length > 0 ? fitting : own;
  if (!planned) return { name: run.name, selector: undefined };
  if (faultNamed(fault)?.isCondition) return { name: run.name, selector: selectorOf(planned) };
  const { operation, after = 0, ...parameters } = planned;
  if (others.length > 0) return { name: run.name, selector: selectorOf(parameters) };
  const place = { ...(operation !== undefined && { operation }), after };
  return { name: useInWords(run.label, planned), selector: selectorOf({ ...parameters, ...place }) };
}

/** What changed since an earlier card: `survived → failed`. */
export const changeInWords = ({ before, now }: Changes['better'][number]) =>
  [before, now].filter((word) => word !== undefined).join(' → ');

/** How a program ended. */
export const howEnded = ({ exitStatus, tookMs }: Ending) =>
  exitStatus === undefined ? `did not end within ${roundedDuration(tookMs)}` : `exit status ${exitStatus}`;

/** How a program ended, and when. */
export const howEndedWhen = (ending: Ending) =>
  ending.exitStatus === undefined
    ? howEnded(ending)
    : `${howEnded(ending)} after ${roundedDuration(ending.tookMs)}`;

/** When a program gave up waiting for a silent response. Undefined under other faults. */
export function gaveUpInWords({ gaveUpAfterMs }: Pick<FaultRun, 'gaveUpAfterMs'>): string | undefined {
  if (gaveUpAfterMs === undefined) return undefined;
  return gaveUpAfterMs === null ? 'did not give up' : `gave up after ${inSeconds(gaveUpAfterMs)}`;
}

/** A line of a stack trace of Node.js, Java, Python or Go. */
const frame =
  /^\s+at |^\s+File ".*", line \d+|^\s+\S+\.go:\d+|^goroutine \d+ |^[\w./]+(?:\(\*?\w+\)[\w.]*)?\(.*\)$/;

/** An HTML page, such as one of a gateway. A program may print only its beginning. */
const page = /<(?:!doctype html|html\b)(?:[\s\S]*?<\/html>|.*(?:\n\s*<.*)*)/gi;
const titleOf = (html: string) => /<title>\s*([^<]*?)\s*<\/title>/i.exec(html)?.[1] ?? 'an HTML page';

/** Lines that runtimes and build tools print after an error, and the tags at the end of a page. */
const addition =
  /^[\])}]+[,;]?$|^\s*(?:<[^<>]+>\s*)+$|^Node\.js v\d|^exit status \d+$|^\(Use `node --trace|^npm (?:ERR!|error)/;

/** The line before an error: the carets of Node.js below the source, or the title of a Python traceback. */
const isLeading = (line: string) => /^\s*[~^]+\s*$/.test(line) || line.startsWith('Traceback (most recent');

/** Why a program failed: the line of the error that ended it, or the last line with the word error, or the last line. */
export function errorLine(printed: readonly string[]): string | undefined {
  if (printed.length === 0) return undefined;
  const lines = printed.join('\n').replace(page, titleOf).split('\n');
  const isOwn = (line: string) => !frame.test(line) && !addition.test(line);
  const leading = lines.findLastIndex(isLeading);
  const found =
    lines.findLast((line) => /^(?:panic|fatal error): /.test(line)) ??
    (leading === -1 ? undefined : lines.slice(leading + 1).find((line) => /^\S/.test(line) && isOwn(line))) ??
    lines.findLast((line, i) => isOwn(line) && /^\s+at /.test(lines[i + 1] ?? '')) ??
    lines.findLast((line) => isOwn(line) && /^(?=\S).*(?:error|exception|panic|fatal)/i.test(line)) ??
    // Indented lines may belong to an object that has a property of that name.
    lines.findLast((line) => isOwn(line) && /(?:Error|Exception): /.test(line)) ??
    lines.findLast((line) => isOwn(line) && /^\S/.test(line)) ??
    lines.at(-1);
  const cause = lines.findLast((line) => /^\s+\[cause\]: (?![{[])/.test(line))?.trim();
  const line = found?.trim().replace(/^UnhandledPromiseRejection: .*(?=The promise rejected)| \{$/g, '');
  return cause === undefined || line === cause ? line : `${line} (${cause})`;
}
