import type { KeyAccount } from './account.ts';
import type { Actions } from './actions.ts';
import { reasonOf } from './api.ts';
import type { RecordingState } from './recording.ts';
import type { RehearsalState } from './rehearsal.ts';
import type { Session } from './session.ts';
import type { StoreCache } from './store-cache.ts';
import type { Stream } from './stream.ts';
import { html, nothing, render, type TemplateResult, type View, when } from './template.ts';
import { toLocalTime } from './times.ts';

/** All that the page knows by one key. Another key gets another context, so nothing has to be reset, and no late answer is shown. */
export interface KeyContext {
  readonly session: Session;
  readonly rehearsal: RehearsalState;
  readonly recording: RecordingState;
  readonly stream: Stream;
  readonly actions: Actions;
  readonly storeCache: StoreCache;
}

/** Disables the controls in `view` while the service is away. Inputs are outside of it, so that typing stays possible. */
export const needsService = ({ connection }: Session, view: View): TemplateResult =>
  html`<fieldset class="needs-service" role="presentation" ?disabled=${connection === 'away'}>${view}</fieldset>`;

export const failureNote = (failure: View | string | undefined): View =>
  failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing;

/** The button that opens a request by its `X-Request-Id`, if it is recorded. */
export const showButton = (recording: RecordingState, requestId = ''): View =>
  when(
    recording.find(requestId),
    ({ id }) => html`<button type="button" @click=${() => recording.show(id)}>Show this request</button>`,
  );

/** Why the key cannot send requests now. */
export function blockedNote(session: Session): View {
  const { blockedBy } = session;
  if (!blockedBy) return nothing;
  const until = toLocalTime(blockedBy.untilMs, session.nowMs());
  return html`<p class="note">
    ${blockedBy.reason}: this tab cannot send requests until ${until}. The data stays visible.
  </p>`;
}

/** A part of the page, made anew for each key. It draws itself once a frame at most. */
export abstract class Panel {
  protected readonly element: HTMLElement;
  protected readonly context: KeyContext;
  /** Why actions failed, by the name of the action. */
  protected readonly failures = new Map<string, View | string>();
  readonly #running = new Set<string>();
  #drawing: Promise<void> | undefined;
  #tick: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement, context: KeyContext) {
    this.element = element;
    this.context = context;
  }

  protected get session(): Session {
    return this.context.session;
  }

  protected abstract view(account: KeyAccount): View;

  /** What the user sees now, also while the account is unknown. */
  protected anyView(): View {
    const { account } = this.session;
    return account ? this.view(account) : nothing;
  }

  protected isRunning(name = ''): boolean {
    return this.#running.has(name);
  }

  protected failure(name = ''): View {
    return failureNote(this.failures.get(name));
  }

  protected async run(act: () => unknown, name = '', reason: (error: unknown) => View | string = reasonOf) {
    if (this.#running.has(name)) return;
    this.#running.add(name);
    this.failures.delete(name);
    this.draw();
    try {
      await act();
    } catch (error) {
      this.failures.set(name, reason(error));
    }
    this.#running.delete(name);
    this.draw();
  }

  /** Draws in the next frame without a pressed control, whose click could be lost. Never resolves once there is another key. */
  draw(): Promise<void> {
    this.#drawing ??= this.#drawWhenFree();
    return this.#drawing;
  }

  /** Draws again when the next second begins, so that all countdowns of the page agree. The time stops while the service is unreachable. */
  protected drawEachSecond(): void {
    clearTimeout(this.#tick);
    if (this.session.connection === 'live' && !document.hidden)
      this.#tick = setTimeout(() => this.draw(), 1_000 - (this.session.nowMs() % 1_000));
  }

  async #drawWhenFree(): Promise<void> {
    const { element } = this;
    do await new Promise(requestAnimationFrame);
    while (element.querySelector(':is(button, label, summary):active'));
    if (this.session.signal.aborted) return new Promise(() => {});
    this.#drawing = undefined;
    const focused = element.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    render(this.anyView(), element);
    if (!focused) return;
    if (!focused.isConnected || focused.matches(':disabled')) this.#focusHeading();
    else if (focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  /** Keeps users of the keyboard here when the focused element is gone. */
  #focusHeading(): void {
    const heading = this.element.querySelector('h2') ?? this.element;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
}
