import { outsideSpan } from '../../foundation/tracing.ts';

/** Called with a workspace, and with whether its webhooks may have changed. */
type ChangeListener = (workspaceId: number, ofWebhooks: boolean) => void;

/** Notifies listeners in this process that a transaction on a workspace was committed. */
export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Listeners are called at once and must not throw. */
  notify(workspaceId: number, ofWebhooks = false): void {
    outsideSpan(() => {
      for (const listener of this.#listeners) listener(workspaceId, ofWebhooks);
    });
  }
}
