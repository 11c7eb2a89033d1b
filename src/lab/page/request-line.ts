import type { Attempt } from '../attempts.ts';
import { outcomeShape } from './draw-time-line.ts';
import { drawGap } from './request-details.ts';
import { html, nothing, type TemplateResult } from './template.ts';
import { duration, preciseTime } from './times.ts';

/** A request on one line. `toggle` opens and closes what is known of it. */
export function drawLine(attempt: Attempt, isOpen: boolean, toggle: () => void): TemplateResult {
  const { kind, word, request } = attempt;
  const { id, at, method, target, code, durationMs, gapMs, fault } = request;
  return html`<button type="button" class="line" data-id=${id} aria-expanded=${isOpen} @click=${toggle}>
    <span class="time"><span class="number">#${id}</span> ${preciseTime(at)}</span>
    <span class="method">${method}</span>
    <span class="path"><bdi title=${target}>${target}</bdi>${fault ? html` <span class="badge other"><span class="unseen">fault </span>${fault}</span>` : nothing}</span>
    <b class="word ${kind}">${outcomeShape(kind)} ${word}</b>
    <span class="code">${code ?? ''}</span>
    <span class="took"><span class="unseen">took </span>${duration(durationMs)}</span>
    <span class="gap">${gapMs === undefined ? nothing : html`<span class="unseen">gap </span><span class="narrow">gap </span>${drawGap(attempt)}`}</span>
  </button>`;
}
