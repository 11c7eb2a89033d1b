import { type Attempt, waitOf } from '../attempts.ts';
import { curlOf, isWhole, setKey } from './curl.ts';
import { counted } from './plain-text.ts';
import { prettyJson } from './pretty-json.ts';
import { baseUrl } from './session.ts';
import { html, nothing, type TemplateResult } from './template.ts';
import { duration, toldText } from './times.ts';
import type { RecordedRequest } from './types.ts';

/** What came of copying: what to say, and the text itself where the clipboard was refused. */
export interface Copying {
  said: string;
  text?: string;
}

/** What was sent and answered. */
export function drawDetails(
  attempt: Attempt,
  copying: Copying | undefined,
  copy: (text: string, said: string) => void,
): TemplateResult {
  const { request } = attempt;
  const { id, method, target, headers, answerHeaders } = request;
  const facts = { ...factsOf(attempt), ...gapOf(attempt) };
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
        <h3>Answered</h3>
        ${
          request.status === undefined
            ? html`<p>${request.left ? 'The client left before there was an answer.' : 'No answer: the connection was cut off.'}</p>`
            : html`<pre>${request.status} ${request.code ?? nothing}\n${fieldLines(answerHeaders)}</pre>`
        }
        <p class="quiet">Bodies of answers are not kept.</p>
      </div>
    </div>
    <div class="row">
      <button type="button" @click=${() => {
        const { line, without } = curlOf(request, baseUrl);
        copy(line, `Copied${without ? `, without ${without}` : ''}. Set the key before: ${setKey}`);
      }}>Copy as cURL</button>
      <span class="quiet" role="status">${copying?.said ?? ''}</span>
    </div>
    ${drawCopy(copying)}
  </div>`;
}

/** A text that could not be copied, for the reader to copy. */
export const drawCopy = (copying: Copying | undefined) =>
  copying?.text === undefined
    ? nothing
    : html`<textarea class="to-copy" readonly rows="6" aria-label="Text to copy" .value=${copying.text}></textarea>`;

const fieldLines = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function drawBody(request: RecordedRequest): TemplateResult | typeof nothing {
  const { body, bodyBytes } = request;
  if (bodyBytes === undefined) return html`<p class="quiet">Its body was not read.</p>`;
  if (body === undefined) return nothing;
  const size = counted(bodyBytes, 'byte');
  const note = isWhole(request) ? `Body, ${size}` : `Body of ${size}: its beginning, or without secrets`;
  return html`<p class="quiet">${note}</p><pre>${prettyJson(body) ?? body}</pre>`;
}

function factsOf({ request, word }: Attempt): Record<string, string> {
  const { id, at, durationMs, operation, connection, requestId, fault, left } = request;
  return {
    Number: `#${id}`,
    Result: `${word}${left && request.status !== undefined ? ', and the client left before it had all' : ''}`,
    ...(operation && { Operation: operation }),
    At: at.replace('T', ' ').replace('Z', ' UTC'),
    Took: duration(durationMs),
    ...(fault && { Faults: fault.replaceAll(' ', ', ') }),
    Connection: connection,
    'Request id': requestId,
  };
}

function gapOf(attempt: Attempt): { Gap?: ReturnType<typeof drawGap> } {
  const { request, before } = attempt;
  if (request.gapMs === undefined) return {};
  const after = before ? `attempt #${before.request.id}` : 'the same request ended the last time';
  return { Gap: drawGap(attempt, `, after ${after}`) };
}

/** The gap before a request, beside what was told to wait: `904 ms, told 3 s`. */
export function drawGap(attempt: Attempt, after = ''): TemplateResult | typeof nothing {
  const { gapMs } = attempt.request;
  if (gapMs === undefined) return nothing;
  const { toldMs, isTooSoon } = waitOf(attempt) ?? {};
  return html`${duration(gapMs)}${toldText(toldMs)}${after}${isTooSoon ? html` <span class="badge bad">too soon</span>` : nothing}`;
}
