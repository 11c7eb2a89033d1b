import {
  type Attempt,
  attemptsOf,
  type Lane,
  lanesOf,
  type OutcomeKind,
  outcomeKinds,
  outcomes,
  waitOf,
} from '../../lab/attempts.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { duration } from '../card.ts';
import { html, type Markup } from './markup.ts';

/** So many lanes are drawn of a run, so many attempts in each, and so many are read out. */
const [maxLanes, maxMarks, maxRead] = [12, 300, 8];
/** Where things stand in a lane, in pixels. Across, they stand by the percentage of the whole time. */
const [height, labelY, trackY, wordY] = [54, 11, 26, 48];
/** The least room of a text, as a percentage: on any screen, on a wide one, and of a sentence. */
const [room, roomIfWide, roomOfSentence] = [13, 5.5, 50];
const maxTicks = 6;

/** What the marks among some attempts mean. */
function legend(attempts: readonly Attempt[]): Markup {
  const kinds = outcomeKinds.filter((kind) => attempts.some((attempt) => attempt.kind === kind));
  const isTold = attempts.some(({ toldUntilMs }) => toldUntilMs !== undefined);
  return html`<ul class="legend">
${kinds.map((kind) => html`<li>${small(mark(kind, false))}${outcomes[kind].meaning}</li>`)}
${attempts.some(({ request }) => request.fault) && html`<li>${small(html`<g class="mark"><circle class="halo" r="9.5"/></g>`)}touched by the fault</li>`}
${isTold && html`<li><svg width="30" height="22" aria-hidden="true"><rect class="told" y="3" width="30" height="16"/></svg>the wait that Retry-After told</li>`}
</ul>`;
}

const small = (drawing: Markup) =>
  html`<svg width="22" height="22" viewBox="-11 -11 22 22" aria-hidden="true">${drawing}</svg>`;

const mark = (kind: OutcomeKind, isTouched: boolean) =>
  html`<g class="mark ${kind}">${isTouched && html`<circle class="halo" r="9.5"/>`}<path d="${outcomes[kind].path}"/></g>`;

/** The requests of a run as a picture: lanes of attempts, from left to right in time. */
export function timeline(requests: readonly RecordedRequest[]): Markup {
  const lanes = lanesOf(attemptsOf(requests), maxLanes);
  const all = lanes.flatMap(({ attempts }) => attempts);
  const wholeMs = lengthOf(all);
  const ticks = ticksOf(wholeMs);
  const x = (ms: number) => Number(Math.min(100, (100 * ms) / wholeMs).toFixed(2));
  return html`<div class="timeline">
${lanes.map((lane) => drawLane(lane, ticks, x))}
<svg class="axis" height="20" aria-hidden="true">${ticks.map((ms) => html`<text x="${x(ms)}%" y="14">${ms === 0 ? 0 : duration(ms)}</text>`)}</svg>
${legend(all)}
</div>`;
}

type Place = (ms: number) => number;

/** The time from the first request to the last answer, and what it tells to wait, unless that is much longer. */
function lengthOf(attempts: readonly Attempt[]): number {
  const endMs = Math.max(1, ...attempts.map((attempt) => attempt.endMs));
  const toldMs = Math.max(0, ...attempts.map(({ toldUntilMs = 0 }) => toldUntilMs));
  return Math.max(endMs, Math.min(toldMs, 2 * endMs + 500));
}

/** Round times, from 0. */
function ticksOf(wholeMs: number): number[] {
  const power = 10 ** Math.floor(Math.log10(wholeMs / maxTicks));
  const step = power * ([1, 2, 5, 10].find((factor) => wholeMs / (power * factor) <= maxTicks) ?? 10);
  return Array.from({ length: Math.floor(wholeMs / step) + 1 }, (_, i) => i * step);
}

const drawLane = ({ label, attempts }: Lane, ticks: number[], x: Place) => html`
<div class="lane">
<code>${label}</code>
<svg class="track" height="${height}" role="img" aria-label="${readOut(label, attempts)}">
${ticks.map((ms) => html`<line class="tick" x1="${x(ms)}%" x2="${x(ms)}%" y2="${height}"/>`)}
${toldIn(attempts).map((told) => drawTold(told, x))}
<line class="ground" x2="100%" y1="${trackY}" y2="${trackY}"/>
${attempts.slice(0, maxMarks).map((attempt) => drawWait(attempt, x))}
${attempts.slice(0, maxMarks).map((attempt) => drawAttempt(attempt, x))}
${words(attempts.slice(0, maxMarks), x)}
</svg>
</div>`;

interface Told {
  fromMs: number;
  untilMs: number;
  /** What the first of its answers told. */
  toldMs: number;
  /** When the last attempt of the lane was. */
  lastMs: number;
}

/** The times in which nothing was to be tried, those that overlap as one. */
function toldIn(attempts: readonly Attempt[]): Told[] {
  const lastMs = attempts.at(-1)?.endMs ?? 0;
  const found: Told[] = [];
  for (const { endMs, toldUntilMs } of attempts) {
    if (toldUntilMs === undefined) continue;
    const last = found.at(-1);
    if (last && endMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, toldUntilMs);
    else found.push({ fromMs: endMs, untilMs: toldUntilMs, toldMs: toldUntilMs - endMs, lastMs });
  }
  return found;
}

function drawTold({ fromMs, untilMs, toldMs, lastMs }: Told, x: Place): Markup {
  const told = `Retry-After told to wait ${duration(toldMs)}`;
  const width = (x(untilMs) - x(fromMs)).toFixed(2);
  return html`<g><title>${told}</title><rect class="told" x="${x(fromMs)}%" width="${width}%" y="${trackY - 10}" height="20"/></g>${
    x(untilMs) - x(lastMs) > roomOfSentence &&
    html`<text class="end told-text" x="${x(untilMs)}%" y="${wordY}">${told}</text>`
  }`;
}

/** The wait before an attempt, from the end of the one that it repeats. */
function drawWait(attempt: Attempt, x: Place): Markup | undefined {
  const wait = waitOf(attempt);
  if (!wait) return undefined;
  const { ms, toldMs, isTooSoon } = wait;
  const waited = duration(ms);
  const [from, to] = [x(attempt.startMs - ms), x(attempt.startMs)];
  const told = toldMs === undefined ? '' : `, told ${duration(toldMs)}`;
  const text = to - from >= room + 9 ? `${waited}${told}` : waited;
  return html`<g class="wait${isTooSoon && ' too-soon'}"><title>Waited ${waited}${told}${isTooSoon && ': too soon'}</title>
<line x1="${from}%" x2="${to}%" y1="${trackY}" y2="${trackY}"/>${labelled((from + to) / 2, labelY, text, to - from)}</g>\n`;
}

function drawAttempt({ request, kind, word, startMs, endMs }: Attempt, x: Place): Markup {
  const { id, method, target, code, fault } = request;
  const facts = [word, code, `after ${duration(endMs - startMs)}`, fault && `touched by ${fault}`].filter(
    Boolean,
  );
  return html`<g><title>#${id} at ${duration(startMs)}: ${method} ${target}\n${facts.join(', ')}</title>
<line class="took ${kind}" x1="${x(startMs)}%" x2="${x(endMs)}%" y1="${trackY}" y2="${trackY}"/>
<svg x="${x(endMs)}%" y="${trackY}" overflow="visible">${mark(kind, fault !== undefined)}</svg></g>\n`;
}

/** What came of attempts, below them, as far as there is room. */
function words(attempts: readonly Attempt[], x: Place): Markup[] {
  let last = Number.NEGATIVE_INFINITY;
  return attempts.flatMap(({ word, endMs }) => {
    const place = x(endMs);
    const text = labelled(place, wordY, word, place - last);
    if (!text) return [];
    last = place;
    return [text];
  });
}

/** A text around a place, if there is room for it; not beyond the ends of the line. */
function labelled(place: number, y: number, text: string, space: number): Markup | undefined {
  if (space < roomIfWide) return undefined;
  const anchor = place < 4 ? 'start' : place > 96 ? 'end' : 'middle';
  return html`<text class="${anchor}${space < room && ' if-wide'}" x="${place}%" y="${y}">${text}</text>`;
}

/** A lane in words. */
function readOut(label: string, attempts: readonly Attempt[]): string {
  const said = attempts
    .slice(0, maxRead)
    .map(({ word, before, startMs }) =>
      before ? `${word} after ${duration(Math.max(0, startMs - before.endMs))}` : word,
    );
  const more = attempts.length > maxRead ? [`and ${attempts.length - maxRead} more`] : [];
  return `${label}: ${[...said, ...more].join(', ')}`;
}
