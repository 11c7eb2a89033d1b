import { counted, preciseDuration } from '../../foundation/words.ts';
import { prettyJson } from '../../http/pages/pretty-json.ts';
import type { RecordedRequest } from '../recordings/schema.ts';
import { type Attempt, waitOf } from '../recordings/timeline-layout.ts';
import { apiUrl } from './api.ts';
import { type Copying, drawCopy } from './copying.ts';
import { curlOf, isWhole } from './curl.ts';
import { outcomeShape } from './draw-timeline.ts';
import { html, nothing, type TemplateResult, type View, when } from './template.ts';
import { preciseTime } from './times.ts';

/** A request on one line. `toggle` opens and closes its details. */
export function drawLine(attempt: Attempt, isOpen: boolean, toggle: () => void): TemplateResult {
  const { kind, word, request } = attempt;
  const { id, at, method, target, code, durationMs, gapMs, fault } = request;
  return html`<button type="button" class="line" data-id=${id} aria-expanded=${isOpen} @click=${toggle}>
    <span class="time"><span class="number">#${id}</span> ${preciseTime(at)}</span>
    <span class="method">${method}</span>
    <span class="path"><bdi title=${target}>${target}</bdi>${when(fault, () => html` <span class="badge other"><span class="unseen">fault </span>${fault}</span>`)}</span>
    <b class="word ${kind}">${outcomeShape(kind)} ${word}</b>
    <span class="code">${code ?? ''}</span>
    <span class="took"><span class="unseen">took </span>${preciseDuration(durationMs)}</span>
    <span class="gap">${gapMs === undefined ? nothing : html`<span class="unseen">gap </span><span class="narrow">gap </span>${drawGap(attempt)}`}</span>
  </button>`;
}

/** A request with its answer. */
export function drawDetails(
  attempt: Attempt,
  copying: Copying | undefined,
  copy: (text: string, message: string) => void,
): TemplateResult {
  const { request } = attempt;
  const { id, method, target, headers, answerHeaders, gapMs, retryOf } = request;
  const after = retryOf ? `attempt #${retryOf}` : 'the previous identical request';
  const gap = gapMs === undefined ? {} : { Gap: drawGap(attempt, ` after ${after}`) };
  const facts = { ...factsOf(attempt), ...gap };
  return html`<div class="details" role="region" aria-label="Request ${id}">
    <dl>${Object.entries(facts).map(
      ([name, fact]) => html`<div><dt>${name}</dt> <dd><bdi>${fact}</bdi></dd></div>`,
    )}</dl>
    <div class="two">
      <div>
        <h3>Sent</h3>
        <pre>${method} ${target}\n${fieldLines(headers)}</pre>
        ${drawBody(request)}
      </div>
      <div>
        <h3>Response</h3>
        ${
          request.status === undefined
            ? html`<p>${request.left ? 'The client disconnected before the response.' : 'No response: the connection was cut.'}</p>`
            : html`<pre>${request.status} ${request.code ?? nothing}\n${fieldLines(answerHeaders)}</pre>`
        }
        <p class="quiet">Response bodies are not stored.</p>
      </div>
    </div>
    <div class="row">
      <button type="button" @click=${() => {
        const { line, without } = curlOf(request, apiUrl);
        copy(
          line,
          `Copied${without ? `, without ${without}` : ''}. First set the key: export PETSTORE_API_KEY='pet_…'`,
        );
      }}>Copy as cURL</button>
      <span class="quiet" role="status">${copying?.message ?? ''}</span>
    </div>
    ${drawCopy(copying)}
  </div>`;
}

const fieldLines = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function drawBody(request: RecordedRequest): View {
  const { body, bodyBytes } = request;
  if (bodyBytes === undefined) return html`<p class="quiet">The service did not read the body.</p>`;
  if (body === undefined) return nothing;
  const size = counted(bodyBytes, 'byte');
  const note = isWhole(request) ? `Body, ${size}` : `Body of ${size}, shortened or without secrets`;
  return html`<p class="quiet">${note}</p><pre>${prettyJson(body) ?? body}</pre>`;
}

function factsOf({ request, word }: Attempt): Record<string, string> {
  const { id, at, durationMs, operation, connection, requestId, fault, left } = request;
  return {
    Number: `#${id}`,
    Result: `${word}${left && request.status !== undefined ? ', and the client disconnected early' : ''}`,
    ...(operation && { Operation: operation }),
    At: at.replace('T', ' ').replace('Z', ' UTC'),
    Took: preciseDuration(durationMs),
    ...(fault && { Faults: fault.replaceAll(' ', ', ') }),
    Connection: connection,
    'Request id': requestId,
  };
}

/** The gap before a request, and the wait that `Retry-After` asked for: `904 ms after attempt #1, Retry-After 3 s`. */
function drawGap(attempt: Attempt, after = ''): View {
  const { gapMs } = attempt.request;
  if (gapMs === undefined) return nothing;
  const { retryAfterMs, isTooSoon } = waitOf(attempt) ?? {};
  return html`<span>${preciseDuration(gapMs)}</span>${after}${when(retryAfterMs, (ms) => html`, <span>Retry-After ${preciseDuration(ms)}</span>`)}${when(isTooSoon, () => html` <span class="badge bad">too soon</span>`)}`;
}
