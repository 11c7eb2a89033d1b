import { roundedDuration } from '../../foundation/words.ts';
import { type OutcomeKind, outcomeKinds, outcomes } from '../../lab/recordings/outcome-kinds.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import {
  type Attempt,
  attemptsOf,
  type Band,
  bandsOf,
  type Lane,
  laneInWords,
  lanesOf,
  type Place,
  placeBetween,
  ticksBetween,
  waitOf,
} from '../../lab/recordings/timeline-layout.ts';
import { html, type Markup } from './markup.ts';

/** The maximum numbers of lanes in a run and of attempts in a lane. They are smaller if nothing went wrong. */
const bounds = { lanes: 12, marks: 100 };
const boundsWithoutGuilty = { lanes: 8, marks: 30 };
/** Vertical positions in a lane, in pixels. Horizontal positions are percentages of the whole time. */
const [height, labelY, trackY, wordY] = [54, 11, 26, 48];
/** In percent of the width: the least room for a text on any screen, on a wide screen, for a sentence, and for the number of a request. */
const [room, roomIfWide, roomOfSentence, roomOfNumber] = [13, 5.5, 50, 2];

/** Explains the marks that occur among some attempts. */
function legend(attempts: readonly Attempt[], guilty: ReadonlySet<string>): Markup {
  const kinds = outcomeKinds.filter((kind) => attempts.some((attempt) => attempt.kind === kind));
  const hasBands = attempts.some(({ waitUntilMs }) => waitUntilMs !== undefined);
  return html`<ul class="legend">
${kinds.map((kind) => html`<li>${small(mark(kind, false))}${outcomes[kind].meaning}</li>`)}
${attempts.some(({ request }) => request.fault) && html`<li>${small(html`<g class="mark"><circle class="halo" r="9.5"/></g>`)}affected by the fault</li>`}
${attempts.some(({ request }) => guilty.has(request.id)) && html`<li>${small(html`<g class="mark guilty"><circle class="ring" r="9.5"/></g>`)}evidence of a problem</li>`}
${hasBands && html`<li><svg width="30" height="22" aria-hidden="true"><rect class="asked-wait" y="3" width="30" height="16"/></svg>the wait that Retry-After asks for</li>`}
</ul>`;
}

const small = (drawing: Markup) =>
  html`<svg width="22" height="22" viewBox="-11 -11 22 22" aria-hidden="true">${drawing}</svg>`;

const mark = (kind: OutcomeKind, isTouched: boolean, isGuilty = false) =>
  html`<g class="mark ${kind}${isGuilty && ' guilty'}">${isGuilty && html`<circle class="ring" r="10.5"/>`}${isTouched && html`<circle class="halo" r="${isGuilty ? 8 : 9.5}"/>`}<path d="${outcomes[kind].path}"/></g>`;

/** The requests of a run as lanes of attempts, from left to right in time. Marks the `guilty` ids: evidence of a problem. */
export function timeline(requests: readonly RecordedRequest[], guilty: ReadonlySet<string>): Markup {
  const most = guilty.size > 0 ? bounds : boundsWithoutGuilty;
  const lanes = lanesOf(attemptsOf(requests), most.lanes).map((lane) => ({
    ...lane,
    drawn: selectMarks(lane.attempts, guilty, most.marks),
  }));
  const all = lanes.flatMap(({ attempts }) => attempts);
  const wholeMs = lengthOf(all);
  const ticks = ticksBetween(0, wholeMs);
  const x = placeBetween(0, wholeMs);
  return html`<div class="timeline">
${lanes.map((lane) => drawLane(lane, ticks, x, guilty))}
<svg class="axis" height="20" aria-hidden="true">${ticks.map((ms) => html`<text x="${x(ms)}%" y="14">${ms === 0 ? 0 : roundedDuration(ms)}</text>`)}</svg>
${legend(all, guilty)}
</div>`;
}

/** Selects attempts, oldest first: the guilty ones, then those that a fault affected or that failed, then the first ones. */
function selectMarks(attempts: Attempt[], guilty: ReadonlySet<string>, most: number): Attempt[] {
  if (attempts.length <= most) return attempts;
  const dullness = ({ request, kind }: Attempt) =>
    guilty.has(request.id) ? 0 : request.fault !== undefined || kind !== 'fine' ? 1 : 2;
  const chosen = new Set(attempts.toSorted((a, b) => dullness(a) - dullness(b)).slice(0, most));
  return attempts.filter((attempt) => chosen.has(attempt));
}

/** The time to the end of the last response, or of the longest wait asked for: at most about twice the first. */
function lengthOf(attempts: readonly Attempt[]): number {
  const endMs = Math.max(1, ...attempts.map((attempt) => attempt.endMs));
  const waitUntilMs = Math.max(0, ...attempts.map((attempt) => attempt.waitUntilMs ?? 0));
  return Math.max(endMs, Math.min(waitUntilMs, 2 * endMs + 500));
}

type DrawnLane = Lane & { drawn: Attempt[] };

function drawLane(lane: DrawnLane, ticks: number[], x: Place, guilty: ReadonlySet<string>): Markup {
  const { label, attempts, drawn } = lane;
  return html`
<div class="lane">
<code>${label}</code>
<svg class="track" height="${height}" role="img" aria-label="${laneInWords(lane, 'first', roundedDuration)}">
${ticks.map((ms) => html`<line class="tick" x1="${x(ms)}%" x2="${x(ms)}%" y2="${height}"/>`)}
${bandsOf(attempts).map((band) => drawBand(band, attempts.at(-1)?.endMs ?? 0, x))}
<line class="ground" x2="100%" y1="${trackY}" y2="${trackY}"/>
${drawn.map((attempt) => drawWait(attempt, x))}
${drawn.map((attempt) => drawAttempt(attempt, x, guilty.has(attempt.request.id)))}
${words(drawn, x, guilty)}
</svg>
</div>`;
}

/** `lastMs`: the end of the last attempt in the lane. */
function drawBand({ fromMs, untilMs, retryAfterMs }: Band, lastMs: number, x: Place): Markup {
  const text = `Retry-After asks to wait ${roundedDuration(retryAfterMs)}`;
  const width = (x(untilMs) - x(fromMs)).toFixed(2);
  return html`<g><title>${text}</title><rect class="asked-wait" x="${x(fromMs)}%" width="${width}%" y="${trackY - 10}" height="20"/></g>${
    x(untilMs) - x(lastMs) > roomOfSentence &&
    html`<text class="end asked-wait-text" x="${x(untilMs)}%" y="${wordY}">${text}</text>`
  }`;
}

/** The wait before an attempt, from the end of the attempt that it repeats. */
function drawWait(attempt: Attempt, x: Place): Markup | undefined {
  const wait = waitOf(attempt);
  if (!wait) return undefined;
  const { fromMs, ms, retryAfterMs, isTooSoon } = wait;
  const waited = roundedDuration(ms);
  const [from, to] = [x(fromMs), x(attempt.startMs)];
  const asked = retryAfterMs === undefined ? '' : `, Retry-After ${roundedDuration(retryAfterMs)}`;
  const text = to - from >= room + 14 ? `${waited}${asked}` : waited;
  return html`<g class="wait${isTooSoon && ' too-soon'}"><title>Waited ${waited}${asked}${isTooSoon && ': too soon'}</title>
<line x1="${from}%" x2="${to}%" y1="${trackY}" y2="${trackY}"/>${labelled((from + to) / 2, labelY, text, to - from)}</g>\n`;
}

function drawAttempt({ request, kind, word, startMs, endMs }: Attempt, x: Place, isGuilty: boolean): Markup {
  const { id, method, target, code, fault } = request;
  const facts = [
    word,
    code,
    `after ${roundedDuration(endMs - startMs)}`,
    fault && `affected by ${fault}`,
    isGuilty && 'evidence of a problem',
  ].filter(Boolean);
  return html`<g><title>#${id} at ${roundedDuration(startMs)}: ${method} ${target}\n${facts.join(', ')}</title>
<line class="took ${kind}" x1="${x(startMs)}%" x2="${x(endMs)}%" y1="${trackY}" y2="${trackY}"/>
<svg x="${x(endMs)}%" y="${trackY}" overflow="visible">${mark(kind, fault !== undefined, isGuilty)}</svg></g>\n`;
}

/** Writes the outcomes below the attempts, if there is room. Guilty attempts come first and show their numbers. */
function words(attempts: readonly Attempt[], x: Place, guilty: ReadonlySet<string>): Markup[] {
  const taken: { place: number; extra: number }[] = [];
  const isGuilty = ({ request }: Attempt) => guilty.has(request.id);
  return attempts
    .toSorted((a, b) => Number(isGuilty(b)) - Number(isGuilty(a)) || a.endMs - b.endMs)
    .flatMap((attempt) => {
      const place = x(attempt.endMs);
      const extra = isGuilty(attempt) ? roomOfNumber : 0;
      const spaces = taken.map((other) => Math.abs(place - other.place) - other.extra - extra);
      const text = `${isGuilty(attempt) ? `#${attempt.request.id} ` : ''}${attempt.word}`;
      const shown = labelled(place, wordY, text, Math.min(...spaces), isGuilty(attempt));
      if (shown) taken.push({ place, extra });
      return shown ?? [];
    });
}

/** A text centered at a place, if there is room. Near the ends of the line it is aligned to stay inside. */
function labelled(place: number, y: number, text: string, space: number, isGuilty = false) {
  if (space < roomIfWide) return undefined;
  const edge = isGuilty ? 9 : 4;
  const anchor = place < edge ? 'start' : place > 100 - edge ? 'end' : 'middle';
  const kinds = `${anchor}${space < room ? ' if-wide' : ''}${isGuilty ? ' guilty-word' : ''}`;
  return html`<text class="${kinds}" x="${place}%" y="${y}">${text}</text>`;
}
