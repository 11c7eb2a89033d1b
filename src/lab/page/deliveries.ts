import type { Delivery } from '../../client/index.ts';
import { counted } from '../../foundation/words.ts';
import type { FirstPage } from './api.ts';
import { plain, timeOf } from './plain-text.ts';
import { html, nothing, repeat, type TemplateResult, type View } from './template.ts';

/** The newest deliveries of a webhook, and when they were read. */
export type Deliveries = FirstPage<Delivery> & { readAt: Date };

/** The button that sends a delivery again, and why that failed. */
type SendAgain = (delivery: Delivery) => [button: View, failure: View];

const colors: Readonly<Record<string, string>> = { delivered: 'good', failed: 'bad', pending: 'warn' };

/** The deliveries of a webhook, the newest first. */
export function deliveryList({ items, hasMore, readAt }: Deliveries, sendAgain: SendAgain): TemplateResult {
  const list = html`<ul class="deliveries">
    ${repeat(
      items,
      ({ id }) => id,
      (delivery) => row(delivery, sendAgain(delivery)),
    )}
  </ul>`;
  return html`${items.length > 0 ? list : nothing}
    <p class="quiet">
      ${items.length > 0 ? nothing : 'Nothing was sent to it yet.'}
      ${hasMore ? `These are the newest ${items.length}. There are more.` : nothing}
      Read at ${timeOf(readAt)}.
    </p>`;
}

function row(delivery: Delivery, [button, failure]: ReturnType<SendAgain>): TemplateResult {
  const { type, eventId, state, attempts, createdAt, messageId, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const next = state === 'pending' && nextAttemptAt ? html`; next at ${timeOf(nextAttemptAt)}` : nothing;
  return html`<li>
    <div class="row spread">
      <div>
        <span class="badge ${colors[state] ?? ''}">${plain(state, 60)}</span>
        <b>${plain(type, 60)}</b> ${eventId === undefined ? nothing : html`<span class="quiet">event ${eventId}</span>`}
        ${timeOf(createdAt)}
      </div>
      ${button}
    </div>
    <details>
      <summary class="attempts">
        ${counted(attempts.length, 'attempt')}: ${last ? outcomeOf(last) : 'none has finished yet'}${next}
      </summary>
      <ol>
        ${attempts.map((attempt) => html`<li>${timeOf(attempt.at)}: ${outcomeOf(attempt)}</li>`)}
      </ol>
      <p class="quiet"><code>webhook-id: ${plain(messageId)}</code></p>
    </details>
    ${failure}
  </li>`;
}

function outcomeOf({ status, error, durationMs }: Delivery['attempts'][number]): string {
  const outcome = error ? plain(error.replace(/\.$/, '')) : `The receiver returned ${status ?? 'nothing'}`;
  return `${outcome}, in ${durationMs} ms`;
}
