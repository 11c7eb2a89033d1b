export type ChangeListener = (workspaceId: number) => void;

/** Tells listeners within this process that a workspace may have changed: that a transaction on it was committed. */
export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Listeners are called at once and must not throw. */
  tell(workspaceId: number): void {
    for (const listener of this.#listeners) listener(workspaceId);
  }
}
