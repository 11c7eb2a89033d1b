import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { outcomeOf } from '../../lab/attempts.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { faultNamed } from '../../lab/rehearsals/faults.ts';
import type { CheckResult } from '../../lab/report/report.ts';
import { version } from '../../version.ts';
import {
  type Card,
  duration,
  type Entry,
  howEndedWhen,
  isTelling,
  type Rank,
  ranks,
  verdictWords,
} from '../card.ts';
import type { Grade } from '../grade.ts';
import { html, Markup } from './markup.ts';
import { timeline } from './timeline.ts';

const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');
/** Nothing is loaded, nothing runs, and no other style holds. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** So many requests of a run are listed. */
const maxListed = 200;

const headings: Record<Rank, string> = {
  mend: 'Must be mended',
  advised: 'Had better be mended',
  survived: 'Survived',
  'not-reached': 'Not reached',
};

const signs: Record<Rank, string> = { mend: '✗', advised: '!', survived: '✓', 'not-reached': '–' };
const verdictSigns: Record<Grade['verdict'], string> = { passed: '✓', failed: '✗', incomplete: '?' };

/** A grade as a page that needs nothing else. */
export function toPage(card: Card): string {
  const { grade, entries, failures, again } = card;
  const isBroken = grade.baseline.problem !== undefined || failures.length > 0;
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
${ranks.map((rank) => [
  group(
    rank,
    entries.filter((entry) => entry.rank === rank),
    card,
  ),
  rank === 'advised' && advice(card),
])}
${!isBroken && baseline(card)}
</main>
<footer><p>Made by Petstore ${version}. All of it again: <code>${again()}</code></p></footer>
</body>
</html>
`;
  return page.text;
}

const verdictOf = ({ verdict }: Grade) => verdict.charAt(0).toUpperCase() + verdict.slice(1);

function header({ grade, entries, sentence, atMs }: Card): Markup {
  const at = new Date(atMs).toISOString();
  return html`<header class="${grade.verdict}">
<p class="what">Report card <time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time></p>
<h1><span class="seal" aria-hidden="true">${verdictSigns[grade.verdict]}</span> ${verdictOf(grade)}</h1>
<p class="command"><code>${grade.command.join(' ')}</code></p>
<p>${sentence}</p>
${entries.length > 0 && html`<nav aria-label="Faults"><ul class="tiles">${entries.map(tile)}</ul></nav>`}
</header>`;
}

/** A fault at a glance, and a link to what there is to say of it. */
function tile({ fault, verdict, rank }: Entry): Markup {
  const name = `${fault}: ${verdictWords[verdict]}`;
  return html`<li><a class="${rank}" href="#${fault}" title="${name}"><span aria-hidden="true">${signs[rank]}</span><span class="for-readers">${name}</span></a></li>`;
}

const baseline = ({
  grade: { baseline, notCompared },
  failures,
}: Card) => html`<section class="baseline" aria-labelledby="baseline">
<h2 id="baseline">Without any fault</h2>
<dl>
<dt>Ended</dt><dd>${howEndedWhen(baseline)}</dd>
<dt>Used</dt><dd>${baseline.operations.length === 0 ? 'no operation' : baseline.operations.map((operation) => html`<code>${operation}</code> `)}</dd>
${notCompared.length > 0 && html`<dt>Not compared</dt><dd>${notCompared.join('; ')}: differs from run to run</dd>`}
</dl>
${failures.map(failedCheck)}
${baseline.problem !== undefined && lines(baseline.lastLines, 'without any fault')}
</section>`;

const advice = ({ advice }: Card) =>
  advice.length > 0 &&
  html`<section aria-labelledby="advice">
<h2 id="advice">Recommended, whatever the fault <span class="count">${advice.length}</span></h2>
${advice.map(
  ({ check, because }) => html`<div class="check"><h3><code>${check.name}</code></h3>
<p>${because}</p><p class="advice">${prose(check.advice)}</p></div>`,
)}
</section>`;

const group = (rank: Rank, entries: Entry[], { again }: Card) =>
  entries.length > 0 &&
  html`<section aria-labelledby="${rank}">
<h2 id="${rank}">${headings[rank]} <span class="count">${entries.length}</span></h2>
${entries.map((entry, i) => details(entry, again(entry.fault), rank === 'mend' && i === 0))}
</section>`;

/** A fault in a line, which opens. The id stands within, so that a link to it opens it, too. */
const details = (
  entry: Entry,
  again: string,
  isOpen: boolean,
) => html`<details class="fault"${isOpen && new Markup(' open')}>
<summary><span class="chip ${entry.verdict === 'survived' ? 'survived' : entry.rank}">${verdictWords[entry.verdict]}</span>
<span class="name">${entry.fault}</span> <span class="level">${entry.required ? 'required' : 'recommended'}</span>
<span class="happened">${entry.happened}</span></summary>
<div class="body" id="${entry.fault}">
${about(entry.fault)}
${entry.difference.length > 0 && html`<h3>What the store holds otherwise</h3><ul class="difference">${entry.difference.map((sentence) => html`<li>${sentence}</li>`)}</ul>`}
${entry.failures.map(failedCheck)}
${entry.requests.length > 0 && html`<h3>What it sent</h3>${timeline(entry.requests)}${requestList(entry)}`}
${isTelling(entry) && html`<h3>How it ended</h3><p>${howEndedWhen(entry)}</p>${lines(entry.lastLines, `under ${entry.fault}`)}`}
<p class="again">Once more, this fault alone: <code>${again}</code></p>
</div>
</details>
`;

/** What the catalogue says of a fault. */
function about(name: string): Markup | undefined {
  const fault = faultNamed(name);
  return (
    fault &&
    html`<dl class="about"><dt>The service</dt><dd>${prose(fault.does)}</dd><dt>A good client</dt><dd>${prose(fault.goodClient)}</dd></dl>`
  );
}

const failedCheck = ({
  name,
  level,
  because,
  advice,
  evidence,
}: CheckResult) => html`<div class="check failure">
<h3><code>${name}</code> <span class="level">${level}</span></h3>
<p>${because}${evidence.length > 0 && ` Requests ${evidence.map((id) => `#${id}`).join(', ')}.`}</p>
<p class="advice">${prose(advice)}</p>
</div>`;

function requestList({ fault, requests }: Entry): Markup {
  const startMs = Date.parse(requests[0]?.at ?? '');
  const more = requests.length - maxListed;
  return html`<details class="requests"><summary>The requests as a table</summary>
<div class="scrolled" tabindex="0" role="region" aria-label="Requests under ${fault}">
<table><thead><tr><th>#</th><th>At</th><th>Request</th><th>Outcome</th><th>Waited</th><th>Fault</th></tr></thead><tbody>
${requests.slice(0, maxListed).map((request) => requestRow(request, startMs))}
</tbody></table></div>
${more > 0 && html`<p>And ${more} more.</p>`}
</details>`;
}

function requestRow(request: RecordedRequest, startMs: number): Markup {
  const { id, at, method, target, code, gapMs, fault } = request;
  const { kind, word } = outcomeOf(request);
  const cells = [
    id,
    `${((Date.parse(at) - startMs) / 1_000).toFixed(3)} s`,
    html`<code>${method} ${target}</code>`,
    html`<span class="outcome ${kind}">${word}</span> ${code}`,
    gapMs !== undefined && duration(gapMs),
    fault,
  ];
  return html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
}

const lines = (lastLines: readonly string[], when: string) =>
  lastLines.length > 0 &&
  html`<pre tabindex="0" role="region" aria-label="What the program wrote last ${when}">${lastLines.join('\n')}</pre>`;

/** A sentence of ours, in which backticks are around what stands in code. */
const prose = (text: string) =>
  text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
