import { preciseDuration } from '../../foundation/words.ts';
import { type OutcomeKind, outcomeKinds, outcomes } from '../recordings/outcome-kinds.ts';
import { laneInWords, waitOf } from '../recordings/timeline-layout.ts';
import { html, nothing, svg, type TemplateResult, when } from './template.ts';
import type { DrawnBand, DrawnLane, Gap, Mark, TimeLine } from './timeline.ts';
import { retryAfterText } from './times.ts';

/** The height of a lane, the height of its texts, and the place of its middle. All grow with the text. */
const [height, textHeight, trackY] = ['3.25em', '1.25em', '2.1em'];
/** In percent: the shortest wait with a text, and the minimum width of the text of a wait that was too short. */
const [leastRoom, tooSoonRoom, tooSoonRoomIfNarrow] = [2, 10, 16];

/** Drawn above a mark. */
const tooSoon = svg`<text class="too-soon" y="-9">!</text>`;

const shape = (kind: OutcomeKind) => svg`<path class="mark ${kind}" d=${outcomes[kind].path} />`;

/** The shape of an outcome. */
export const outcomeShape = (kind: OutcomeKind) =>
  html`<svg class="shape" width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">${shape(kind)}</svg>`;

/** The length of a gap, which takes many seconds. */
const idle = ({ ms }: Pick<Gap, 'ms'>) => preciseDuration(Math.round(ms / 1_000) * 1_000);

/** Draws a time line. Calls `open` with the id of the request whose mark is clicked. */
export function drawTimeLine({ lanes, ticks, gaps }: TimeLine, open: (id: string) => void): TemplateResult {
  const clicked = ({ target }: Event) => {
    const id = (target as Element).closest<SVGElement>('[data-id]')?.dataset.id;
    if (id) open(id);
  };
  const all = lanes.flatMap(({ attempts }) => attempts);
  const kinds = outcomeKinds.filter((kind) => all.some((attempt) => attempt.kind === kind));
  return html`<div class="time-line" @click=${clicked}>
    <div class="lanes" tabindex="0" role="region" aria-label="Time line">
      ${lanes.map((lane) => drawLane(lane, ticks, gaps))}
    </div>
    <div class="axis" aria-hidden="true">
      <svg width="100%" height="1.35em">
        ${ticks.map(({ at, ms, isMinor }) => text(at, ms === 0 ? '0' : preciseDuration(ms), isMinor ? 'minor' : ''))}
        ${gaps.map((gap) => between(gap.from, gap.to, '', html`<span>${idle(gap)}</span><span>&nbsp;pause</span>`))}
      </svg>
    </div>
    <ul class="legend">
      ${kinds.map((kind) => html`<li>${outcomeShape(kind)} ${outcomes[kind].meaning}</li>`)}
      ${when(
        all.some(({ request }) => request.fault),
        () =>
          html`<li><svg class="shape" width="20" height="20" viewBox="-10 -10 20 20" aria-hidden="true"><circle class="halo" r="8"/></svg> affected by a fault</li>`,
      )}
      ${when(
        all.some((attempt) => waitOf(attempt)?.isTooSoon),
        () =>
          html`<li><svg class="shape" width="10" height="16" viewBox="-5 -22 10 16" aria-hidden="true">${tooSoon}</svg> too soon</li>`,
      )}
      ${when(
        all.some(({ waitUntilMs }) => waitUntilMs !== undefined),
        () =>
          html`<li><svg width="22" height="14" aria-hidden="true"><rect class="band" width="22" height="14"/></svg> the wait that Retry-After asks for</li>`,
      )}
    </ul>
  </div>`;
}

function drawLane(lane: DrawnLane, ticks: TimeLine['ticks'], gaps: readonly Gap[]): TemplateResult {
  const { label, marks, bands } = lane;
  return html`<div class="lane">
    <code title=${label}>${label}</code>
    <svg width="100%" height=${height} role="img" aria-label=${laneInWords(lane, 'last', preciseDuration)}>
      ${ticks.map(({ at }) => svg`<line class="tick" x1="${at}%" x2="${at}%" y2=${height} />`)}
      ${gaps.map(({ from, to, ms }) => svg`<rect class="gap" x="${from}%" width="${(to - from).toFixed(2)}%" height=${height}><title>${idle({ ms })} without a request</title></rect>`)}
      <svg y=${trackY}>
        ${bands.map(drawBand)}
        <line class="ground" x2="100%" />
      </svg>
      ${waitsBeside(marks).map(drawWaitText)}
      <svg y=${trackY}>
        ${marks.map(drawWait)}
        ${marks.map(drawMark)}
      </svg>
    </svg>
  </div>`;
}

const drawBand = ({ from, to, retryAfterMs }: DrawnBand) =>
  svg`<rect class="band" x="${from}%" width="${(to - from).toFixed(2)}%" y="-11" height="22">
    <title>Retry-After asks to wait ${preciseDuration(retryAfterMs)}</title>
  </rect>`;

function drawWait({ wait, from }: Mark): TemplateResult | typeof nothing {
  if (!wait) return nothing;
  const { from: begin, ms, retryAfterMs, isTooSoon } = wait;
  return svg`<g class="wait ${isTooSoon ? 'too-soon' : ''}">
    <title>Waited ${preciseDuration(ms)}${retryAfterText(retryAfterMs)}${isTooSoon ? ': too soon' : ''}</title>
    <line x1="${begin}%" x2="${from}%" />
  </g>`;
}

/** The waits that have a text. Their texts must not overlap. */
function waitsBeside(marks: readonly Mark[]): Mark[] {
  let until = 0;
  return marks.filter(({ wait, from }, at) => {
    if (!wait || wait.from < until || from - wait.from < leastRoom) return false;
    const next = marks[at + 1];
    const isNextWide = next?.wait?.isTooSoon && next.from - next.wait.from < tooSoonRoom;
    if (isNextWide && from - wait.from < 2 * tooSoonRoom) return false;
    until = from;
    return true;
  });
}

/** The text above a wait: its length, and the wait that `Retry-After` asked for. */
const drawWaitText = ({ wait, from }: Mark) =>
  wait &&
  between(
    wait.from,
    from,
    wait.isTooSoon ? `too-soon ${from < tooSoonRoomIfNarrow ? 'at-start' : ''}` : '',
    html`<span>${preciseDuration(wait.ms)}</span><span>${retryAfterText(wait.retryAfterMs)}</span>`,
  );

const between = (from: number, to: number, kind: string, words: TemplateResult) =>
  svg`<foreignObject x="${from}%" width="${(to - from).toFixed(2)}%" height=${textHeight}>
    <div class="waited ${kind}">${words}</div>
  </foreignObject>`;

function drawMark({ attempt, from, to, more, wait }: Mark): TemplateResult {
  const { request, kind, word } = attempt;
  const { id, method, target, code, fault } = request;
  const facts = [word, code, `after ${preciseDuration(request.durationMs)}`, fault && `affected by ${fault}`];
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

/** A text around a place, within the ends of the line. */
const text = (place: number, words: string, name: string) =>
  svg`<text class="${place < 4 ? 'start' : place > 96 ? 'end' : ''} ${name}" x="${place}%" y="1em">${words}</text>`;
