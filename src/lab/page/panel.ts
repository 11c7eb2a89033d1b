import { session } from './session.ts';
import { forEachKey, keySignal } from './state.ts';
import { html, nothing, render, type TemplateResult, type View } from './template.ts';

/** Disables the controls in `view` while the service is away. Inputs are outside of it, so that typing stays possible. */
export const needsService = (view: View): TemplateResult =>
  html`<fieldset class="needs-service" role="presentation" ?disabled=${session.connection === 'away'}>${view}</fieldset>`;

export const failureNote = (failure: View | string | undefined): View =>
  failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing;

/** A part of the page, made anew for each key. It draws itself once a frame at most. */
export abstract class Panel {
  protected readonly element: HTMLElement;
  readonly #signal = keySignal();
  #drawing: Promise<void> | undefined;
  #tick: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement) {
    this.element = element;
    session.onChange(() => this.draw());
  }

  /** What the user sees now. */
  protected abstract view(): View;

  /** Draws in the next frame in which no control of the panel is pressed: if a control moved, its click would be lost. */
  draw(): Promise<void> {
    this.#drawing ??= this.#drawWhenFree();
    return this.#drawing;
  }

  /** Draws again when the next second begins, so that all countdowns of the page agree. The time stops while the service is unreachable. */
  protected drawEachSecond(): void {
    clearTimeout(this.#tick);
    if (session.connection === 'live' && !document.hidden)
      this.#tick = setTimeout(() => this.draw(), 1_000 - (session.nowMs() % 1_000));
  }

  async #drawWhenFree(): Promise<void> {
    const { element } = this;
    do await new Promise(requestAnimationFrame);
    while (element.querySelector(':is(button, label, summary):active'));
    this.#drawing = undefined;
    if (this.#signal.aborted) return;
    const focused = element.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    render(this.view(), element);
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

/** Draws a panel in the element with this name. */
export function addPanel(name: string, PanelOf: new (element: HTMLElement) => Panel): void {
  const element = document.querySelector(name) as HTMLElement;
  forEachKey(() => void new PanelOf(element).draw());
}
