import { type OutcomeKind, outcomeKinds, outcomes, waitOf } from '../attempts.ts';
import { html, nothing, svg, type TemplateResult } from './template.ts';
import type { Band, DrawnLane, Mark, TimeLine } from './time-line.ts';
import { clockTime, duration, toldText } from './times.ts';

/** How high a lane is, its texts, and where its middle is: all grow with the text. */
const [height, textHeight, trackY] = ['4.25em', '1.25em', '2.2em'];
/** In percent; no text of a wait fits into less. */
const leastRoom = 2;
const maxRead = 8;

/** Stands below a mark. */
const tooSoon = svg`<text class="too-soon" y="9" dy="1em">!</text>`;

const shape = (kind: OutcomeKind) => svg`<path class="mark ${kind}" d=${outcomes[kind].path} />`;

/** The shape of an outcome, beside a text. */
export const outcomeShape = (kind: OutcomeKind) =>
  html`<svg class="shape" width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">${shape(kind)}</svg>`;

/** Draws it. `open` is called with the id of the request whose mark was clicked. */
export function drawTimeLine({ lanes, ticks, zero }: TimeLine, open: (id: string) => void): TemplateResult {
  const clicked = ({ target }: Event) => {
    const id = (target as Element).closest<SVGElement>('[data-id]')?.dataset.id;
    if (id) open(id);
  };
  const all = lanes.flatMap(({ attempts }) => attempts);
  const kinds = outcomeKinds.filter((kind) => all.some((attempt) => attempt.kind === kind));
  const [first, second] = ticks;
  const stepMs = (second?.ms ?? 0) - (first?.ms ?? 0) || 1;
  return html`<div class="time-line" @click=${clicked}>
    ${lanes.map((lane) => drawLane(lane, ticks, zero))}
    <svg class="axis" width="100%" height="1.35em" aria-hidden="true">
      ${ticks.map(({ at, ms }) => text(at, tickText(ms, zero), Math.round(ms / stepMs) % 2 ? 'odd' : ''))}
    </svg>
    <ul class="legend">
      ${kinds.map((kind) => html`<li>${outcomeShape(kind)} ${outcomes[kind].meaning}</li>`)}
      ${
        all.some(({ request }) => request.fault)
          ? html`<li><svg class="shape" width="20" height="20" viewBox="-10 -10 20 20" aria-hidden="true"><circle class="halo" r="8"/></svg> touched by a fault</li>`
          : nothing
      }
      ${
        all.some((attempt) => waitOf(attempt)?.isTooSoon)
          ? html`<li><svg class="shape" width="10" height="16" viewBox="-5 9 10 16" aria-hidden="true">${tooSoon}</svg> too soon</li>`
          : nothing
      }
      ${
        all.some(({ toldUntilMs }) => toldUntilMs !== undefined)
          ? html`<li><svg width="22" height="14" aria-hidden="true"><rect class="band" width="22" height="14"/></svg> the wait that Retry-After told</li>`
          : nothing
      }
    </ul>
  </div>`;
}

function tickText(ms: number, { is, atMs }: TimeLine['zero']): string {
  if (ms === 0) return { now: 'now', last: `last at ${clockTime(atMs)}`, first: '0' }[is];
  const sign = is === 'first' ? '' : ms < 0 ? '−' : '+';
  return sign + duration(Math.abs(ms));
}

const drawLane = (
  { label, attempts, marks, bands }: DrawnLane,
  ticks: TimeLine['ticks'],
  zero: TimeLine['zero'],
) =>
  html`<div class="lane">
    <code title=${label}>${label}</code>
    <svg width="100%" height=${height} role="img" aria-label=${readOut(label, attempts)}>
      ${ticks.map(({ at }) => svg`<line class="tick" x1="${at}%" x2="${at}%" y2=${height} />`)}
      <svg y=${trackY}>
        ${bands.map(drawBand)}
        <line class="ground" x2="100%" />
      </svg>
      ${zero.is === 'now' ? svg`<line class="now" x1="${zero.at}%" x2="${zero.at}%" y2=${height} />` : nothing}
      ${waitsBeside(marks).map(drawWaitText)}
      <svg y=${trackY}>
        ${marks.map(drawWait)}
        ${marks.map(drawMark)}
      </svg>
    </svg>
  </div>`;

const drawBand = ({ from, to, toldMs }: Band) =>
  svg`<rect class="band" x="${from}%" width="${(to - from).toFixed(2)}%" y="-11" height="22">
    <title>Retry-After told to wait ${duration(toldMs)}</title>
  </rect>`;

/** The wait before an attempt, from the end of the one that it repeats. */
function drawWait({ wait, from }: Mark): TemplateResult | typeof nothing {
  if (!wait) return nothing;
  const { from: begin, ms, toldMs, isTooSoon } = wait;
  return svg`<g class="wait ${isTooSoon ? 'too-soon' : ''}">
    <title>Waited ${duration(ms)}${toldText(toldMs)}${isTooSoon ? ': too soon' : ''}</title>
    <line x1="${begin}%" x2="${from}%" />
  </g>`;
}

/** The ends of waits that have a text: none that begins before the last of them has ended. */
function waitsBeside(marks: readonly Mark[]): Mark[] {
  let until = 0;
  return marks.filter(({ wait, from }) => {
    if (!wait || wait.from < until || from - wait.from < leastRoom) return false;
    until = from;
    return true;
  });
}

/** As much as fits above a wait: how long it was, and what was told. */
const drawWaitText = ({ wait, from }: Mark) =>
  wait &&
  svg`<foreignObject x="${wait.from}%" width="${(from - wait.from).toFixed(2)}%" height=${textHeight}>
    <div class="waited ${wait.isTooSoon ? 'too-soon' : ''}"><span>${duration(wait.ms)}</span><span>${toldText(wait.toldMs)}</span></div>
  </foreignObject>`;

function drawMark({ attempt, from, to, more, wait }: Mark): TemplateResult {
  const { request, kind, word } = attempt;
  const { id, method, target, code, fault } = request;
  const facts = [word, code, `after ${duration(request.durationMs)}`, fault && `touched by ${fault}`];
  return svg`<g class="attempt" data-id=${id}>
    <title>${`#${id} ${method} ${target}\n${facts.filter(Boolean).join(', ')}${more ? `\nand ${more} more here` : ''}`}</title>
    ${to - from < 0.5 ? nothing : svg`<line class="took ${kind}" x1="${from}%" x2="${to}%" />`}
    <svg x="${to}%">
      <circle class="target" r="11" />
      ${fault === undefined ? nothing : svg`<circle class="halo" r="9" />`}
      ${shape(kind)}
      ${wait?.isTooSoon ? tooSoon : nothing}
    </svg>
  </g>`;
}

/** A text around a place, not beyond the ends of the line. */
const text = (place: number, words: string, name: string) =>
  svg`<text class="${place < 4 ? 'start' : place > 96 ? 'end' : ''} ${name}" x="${place}%" y="1em">${words}</text>`;

/** A lane in words: its last attempts. */
function readOut(label: string, attempts: DrawnLane['attempts']): string {
  const said = attempts
    .slice(-maxRead)
    .map(({ word, before, startMs }) =>
      before ? `${word} after ${duration(Math.max(0, startMs - before.endMs))}` : word,
    );
  const earlier = attempts.length > maxRead ? `${attempts.length - maxRead} earlier, then ` : '';
  return `${label}: ${earlier}${said.join(', ')}`;
}
