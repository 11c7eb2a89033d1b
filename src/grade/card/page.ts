import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { version } from '../../foundation/version.ts';
import { capitalized, counted, inSeconds, roundedDuration } from '../../foundation/words.ts';
import { faultNamed } from '../../lab/faults/list.ts';
import { outcomeOf } from '../../lab/recordings/outcome-kinds.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import type { Changes } from '../card-schema.ts';
import { type FaultGrade, type Grade, withoutFaults } from '../grade.ts';
import type { Rank } from '../verdict.ts';
import {
  type Card,
  type CardFinding,
  type CardProblem,
  type CardRow,
  type Evidence,
  keyOf,
  rankOfFault,
} from './card.ts';
import { html, Markup } from './markup.ts';
import { timeline } from './timeline.ts';
import { changeInWords, howEndedWhen, rankMarks, verdictWords } from './words.ts';

const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');
/** The page loads nothing and runs nothing. Only its own style applies. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** The maximum number of listed requests: of a run, and of a finding. */
const [maxListed, maxEvidence] = [200, 20];
/** At first this many problems are open. */
const openProblems = 2;

const headings = { 'must-fix': 'Must fix', 'should-fix': 'Should fix' } as const;
const verdictSigns: Record<Grade['verdict'], string> = { passed: '✓', failed: '✗', incomplete: '?' };

/** A grade as an HTML page without further files. */
export function toHtml(card: Card): string {
  const { grade, problems } = card;
  const isBroken = grade.baseline.problem !== undefined;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${verdictOf(grade)}: report card of ${grade.command.join(' ')}</title>
<style>${new Markup(style)}</style>
</head>
<body>
${header(card)}
<main>
${isBroken && baseline(card)}
${card.passed.length > 0 && passed(card)}
${card.changes && changed(card.changes, grade.verdict)}
${(['must-fix', 'should-fix'] as const).map((rank) => problemList(rank, problems))}
${!isBroken && baseline(card)}
${runs(card)}
</main>
${card.advice.length > 0 && html`<p>Advice: ${card.advice.join(' ')}</p>`}
<footer><p>Compared are changes, standard output and exit status, but not standard error. Created by Petstore ${version}. Run all again: <code>${card.again}</code></p></footer>
</body>
</html>
`;
  return page.text;
}

const verdictOf = ({ verdict }: Grade) => capitalized(verdict);

/** The faults in the order of their worst runs. */
const inOrder = ({ grade, rows }: Card) =>
  Map.groupBy(rows, ({ fault }) => fault)
    .keys()
    .toArray()
    .flatMap((name) => grade.faults.filter(({ fault }) => fault === name));

function header(card: Card): Markup {
  const { grade, sentence, runs, atMs } = card;
  return html`<header class="${grade.verdict}">
<p class="what">Report card ${time(new Date(atMs).toISOString())}</p>
<h1><span class="seal" aria-hidden="true">${verdictSigns[grade.verdict]}</span> ${verdictOf(grade)}</h1>
<p class="command"><code>${grade.command.join(' ')}</code></p>
<p>${sentence} ${runs}</p>
${grade.faults.length > 0 && html`<nav aria-label="Faults"><ul class="tiles">${inOrder(card).map((fault) => tile(fault, card))}</ul></nav>`}
</header>`;
}

const time = (at: string) => html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>`;

const wordOf = ({ verdict }: FaultGrade, rank: Rank) =>
  verdict === 'survived' && rank !== 'survived' ? 'broke a rule' : verdictWords[verdict];

/** A fault as a tile that links to its details. */
function tile(fault: FaultGrade, card: Card): Markup {
  const rank = rankOfFault(fault.fault, card);
  const name = `${fault.fault}: ${wordOf(fault, rank)}`;
  return html`<li><a class="${rank}" href="#${fault.fault}" title="${name}"><span aria-hidden="true">${rankMarks[rank]}</span><span class="for-readers">${name}</span></a></li>`;
}

const passed = ({ passed, grade: { goal } }: Card) => html`<section aria-labelledby="passed">
<h2 id="passed">Passed</h2>
<p>${goal?.text}</p>
${scrolled(
  'How often it passed',
  ['', 'Passed', ...Array.from({ length: goal?.trials ?? 0 }, (_, i) => `pass^${i + 1}`)],
  passed.map(({ name, reached, passed, passHat }) => [
    name,
    `${passed} of ${reached}`,
    ...passHat.map((chance) => chance.toFixed(2)),
  ]),
  0,
)}
<p>pass^k is the probability that k trials in a row all pass.</p>
</section>`;

function changed({ since, before, note, ...changes }: Changes, verdict: Grade['verdict']): Markup {
  const list = (what: keyof typeof changes) =>
    html`<ul class="changes ${what}">${changes[what].map(
      (change) => html`<li><b>${change.name}</b>: ${changeInWords(change)}</li>`,
    )}</ul>`;
  const title = (what: keyof typeof changes) =>
    html`${capitalized(what)} <span class="count">${changes[what].length}</span>`;
  const isSame = Object.values(changes).every(({ length }) => length === 0);
  return html`<section aria-labelledby="changes">
<h2 id="changes">Since ${time(since)}: ${before} → ${verdict}</h2>
${note !== undefined && html`<p>${note}</p>`}
${isSame && html`<p>No run and no check changed.</p>`}
${(['worse', 'better'] as const).map((what) => changes[what].length > 0 && html`<h3>${title(what)}</h3>${list(what)}`)}
${(['new', 'gone'] as const).map((what) => changes[what].length > 0 && html`<details><summary>${title(what)}</summary>${list(what)}</details>`)}
</section>`;
}

function problemList(rank: keyof typeof headings, all: CardProblem[]): Markup | false {
  const problems = all.filter((problem) => problem.rank === rank);
  return (
    problems.length > 0 &&
    html`<section aria-labelledby="${rank}">
<h2 id="${rank}">${headings[rank]} <span class="count">${problems.length}</span></h2>
${problems.map(problemDetails)}
</section>`
  );
}

const problemDetails = (problem: CardProblem, i: number) =>
  html`<details class="problem ${problem.rank}"${i < openProblems && problem.rank === 'must-fix' && new Markup(' open')}>
<summary><h3>${problemTitle(problem)}</h3>
<p class="where">${problem.where}${problem.alsoAt.length > 0 && `, and in ${counted(problem.alsoAt.length, 'more run')}`}</p></summary>
${cause(problem)}
</details>`;

const problemTitle = ({ kind, title, what }: CardFinding) =>
  html`${kind === 'check' ? html`<code>${title}</code>` : html`<b>${title}</b>`}${what !== '' && html`: ${what}`}`;

/** The requests behind a finding, what the service did, what a good client does, what to change, and how to see it again. */
const cause = ({ evidence, service, goodClient, change, again, alsoAt, ...problem }: CardProblem) => html`
${evidence.length > 0 && evidenceTable(evidence, `${problem.title}: ${problem.what} (${problem.where})`)}
<dl>
${service !== undefined && html`<dt>The service</dt><dd>${prose(service)}</dd>`}
${goodClient !== undefined && html`<dt>A good client</dt><dd>${prose(goodClient)}</dd>`}
${change !== undefined && html`<dt>Fix</dt><dd class="change">${prose(change)}</dd>`}
${alsoAt.length > 0 && html`<dt>Also</dt><dd>${alsoAt.join('; ')}</dd>`}
<dt>Run again</dt><dd><code>${again}</code></dd>
</dl>`;

const evidenceTable = (evidence: readonly Evidence[], what: string) =>
  scrolled(
    `Requests behind: ${what}`,
    ['#', 'At', 'Request', 'Idempotency-Key', 'Outcome', 'Fault'],
    evidence
      .slice(0, maxEvidence)
      .map(({ id, at, method, target, key, outcome, isAffected }) => [
        id,
        at,
        html`<code>${method} ${target}</code>`,
        key ?? (method === 'POST' ? 'none' : ''),
        outcome,
        isAffected && 'yes',
      ]),
    evidence.length - maxEvidence,
  );

function baseline({ grade, baseline: findings, notes, refused, rows }: Card): Markup {
  const { baseline } = grade;
  return html`<section class="baseline" aria-labelledby="baseline">
<h2 id="baseline">Without faults</h2>
<dl>
<dt>Ended</dt><dd>${howEndedWhen(baseline)}</dd>
<dt>Used</dt><dd>${baseline.operations.length === 0 ? 'no operation' : baseline.operations.map(({ operation, uses }) => html`<span class="use"><code>${operation}</code>${uses > 1 && ` × ${uses}`}</span> `)}</dd>
${notes.length > 0 && html`<dt>Note</dt><dd>${notes.map((note) => html`<p>${note}</p>`)}</dd>`}
${findings.length > 0 && html`<dt>Failed checks</dt><dd>${findings.map(({ title }) => html`<code>${title}</code> `)}</dd>`}
</dl>
${
  refused.length > 0 &&
  html`<h3>Refused without any fault</h3><p>A correct program seldom sends such requests in every run.</p>
${evidenceTable(refused, 'refused without any fault')}`
}
${baseline.problem !== undefined && lines(baseline.lastLines, 'without faults')}
${rows.filter(({ fault }) => fault === withoutFaults).map(runDetails)}
</section>`;
}

const runs = (card: Card) =>
  card.rows.length > 0 &&
  html`<section aria-labelledby="runs">
<h2 id="runs">Every fault <span class="count">${card.grade.faults.length}</span></h2>
${inOrder(card).map((grade) => faultDetails(grade, card))}
</section>`;

/** A fault as a line that opens. The id is inside the line, so that a link to the id opens it. */
function faultDetails(grade: FaultGrade, card: Card): Markup {
  const rows = card.rows.filter(({ fault }) => fault === grade.fault);
  return html`<details class="fault">
<summary><span class="chip ${rankOfFault(grade.fault, card)}">${wordOf(grade, rankOfFault(grade.fault, card))}</span>
<span class="name">${grade.fault}</span> <span class="level">${grade.required ? 'required' : 'recommended'}</span>
<span class="happened">${rows.length > 1 ? counted(rows.length, 'run') : rows[0]?.happened}</span></summary>
<div class="body" id="${grade.fault}">
${about(grade.fault)}
${rows.map(runDetails)}
</div>
</details>
`;
}

function runDetails(row: CardRow): Markup | false {
  const { name, rank, word, happened, run, findings, again } = row;
  if (!run) return false;
  const guilty = new Set(findings.flatMap(({ evidence }) => evidence.map(({ id }) => id)));
  return html`<section class="run" aria-label="${name}">
<h3><span class="chip ${rank}">${word}</span> ${name}</h3>
${rank === 'survived' && happened !== '' && html`<p>${happened}</p>`}
${findings.map(
  (finding) =>
    html`<p class="finding ${finding.rank}">${problemTitle(finding)} <span class="level">${finding.where}, ${requestNumbers(finding)}</span></p>`,
)}
${run.excused && html`<p>Excused, for a good reason:</p><ul>${run.excused.map((line) => html`<li>${line}</li>`)}</ul>`}
${run.requests.length > 0 && timeline(run.requests, guilty)}
${findings.length > 0 && requestList(name, run.requests)}
${run.exitStatus !== 0 && html`<p>Ended: ${howEndedWhen(run)}.</p>${lines(run.lastLines, `in ${name}`)}`}
<p class="again">Run again: <code>${again}</code></p>
</section>`;
}

const requestNumbers = ({ evidence }: CardFinding) =>
  evidence.length === 0 ? 'no request' : evidence.map(({ id }) => `#${id}`).join(' ');

function about(name: string): Markup | undefined {
  const fault = faultNamed(name);
  return (
    fault &&
    html`<dl class="about"><dt>The service</dt><dd>${prose(fault.does)}</dd><dt>A good client</dt><dd>${prose(fault.goodClient)}</dd></dl>`
  );
}

function requestList(name: string, requests: readonly RecordedRequest[]): Markup {
  const startMs = Date.parse(requests[0]?.at ?? '');
  return html`<details class="requests"><summary>Requests as a table</summary>
${scrolled(
  `Requests of ${name}`,
  ['#', 'At', 'Request', 'Idempotency-Key', 'Outcome', 'Waited', 'Fault'],
  requests.slice(0, maxListed).map((request) => requestCells(request, startMs)),
  requests.length - maxListed,
)}
</details>`;
}

function requestCells(request: RecordedRequest, startMs: number) {
  const { id, at, method, target, code, gapMs, fault } = request;
  const { kind, word } = outcomeOf(request);
  return [
    id,
    inSeconds(Date.parse(at) - startMs, 3),
    html`<code>${method} ${target}</code>`,
    keyOf(request).key,
    html`<span class="outcome ${kind}">${word}</span> ${code}`,
    gapMs !== undefined && roundedDuration(gapMs),
    fault,
  ];
}

type CellOfTable = Markup | string | undefined | false;

/** A table that scrolls if it is too wide. `more`: how many rows were left out. */
const scrolled = (name: string, head: string[], rows: CellOfTable[][], more: number) => html`
<div class="scrolled" tabindex="0" role="region" aria-label="${name}">
<table><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead><tbody>
${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}
</tbody></table></div>
${more > 0 && html`<p>And ${more} more.</p>`}`;

const lines = (lastLines: readonly string[], when: string) =>
  lastLines.length > 0 &&
  html`<pre tabindex="0" role="region" aria-label="Last output of the program ${when}">${lastLines.join('\n')}</pre>`;

/** A sentence with code in backticks. */
const prose = (text: string) =>
  text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
