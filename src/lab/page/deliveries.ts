import type { Delivery } from '../../client/index.ts';
import type { FirstPage } from './first-page.ts';
import { counted, plain, timeOf } from './plain-text.ts';
import type { View } from './section.ts';
import { html, nothing, repeat, type TemplateResult } from './template.ts';
import { outcomeOf, tones } from './webhook-types.ts';

/** What was sent to a webhook, and when that was read. */
export type Deliveries = FirstPage<Delivery> & { readAt: Date };

/** What sends a delivery again, and why that failed. */
type Again = (delivery: Delivery) => [button: View, failure: View];

/** What was sent to a webhook, the newest first. */
export function deliveryList({ items, hasMore, readAt }: Deliveries, again: Again): TemplateResult {
  const list = html`<ul class="deliveries">
    ${repeat(
      items,
      ({ id }) => id,
      (delivery) => row(delivery, again(delivery)),
    )}
  </ul>`;
  return html`${items.length > 0 ? list : nothing}
    <p class="quiet">
      ${items.length > 0 ? nothing : 'Nothing was sent to it yet.'}
      ${hasMore ? `The newest ${items.length}, and there are more.` : nothing}
      Read at ${timeOf(readAt)}.
    </p>`;
}

function row(delivery: Delivery, [button, failure]: ReturnType<Again>): TemplateResult {
  const { type, eventId, state, attempts, createdAt, messageId } = delivery;
  return html`<li>
    <div class="row spread">
      <div>
        <span class="badge ${tones[state] ?? ''}">${plain(state, 60)}</span>
        <b>${plain(type, 60)}</b> ${eventId === undefined ? nothing : html`<span class="quiet">event ${eventId}</span>`}
        ${timeOf(createdAt)}
      </div>
      ${button}
    </div>
    <details>
      <summary class="attempts">
        ${counted(attempts.length, 'attempt')}: ${outcomeOf(delivery)}${nextOf(delivery)}
      </summary>
      <ol>
        ${attempts.map((attempt) => html`<li>${timeOf(attempt.at)}: ${outcomeOf({ ...delivery, attempts: [attempt] })}</li>`)}
      </ol>
      <p class="quiet"><code>webhook-id: ${plain(messageId)}</code></p>
    </details>
    ${failure}
  </li>`;
}

/** When it is tried again. */
const nextOf = ({ state, nextAttemptAt }: Delivery): View =>
  state === 'pending' && nextAttemptAt ? html`; next at ${timeOf(nextAttemptAt)}` : nothing;
