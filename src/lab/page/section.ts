import { session } from './session.ts';
import { html, type nothing, render, type TemplateResult } from './template.ts';

export type View = TemplateResult | typeof nothing;

/**
 * Buttons and switches that ask the service: none can be used while that is away. What is typed stands outside, so that nothing is lost
 * of it: a form is not sent while its button is disabled.
 */
export const asking = (view: View): TemplateResult =>
  html`<fieldset class="asking" role="presentation" ?disabled=${session.standing === 'away'}>${view}</fieldset>`;

/**
 * A part of the page: a custom element that draws itself from what the session and itself know, once a frame at most. It has no shadow
 * tree, so that one style sheet and the headings of the page hold for all parts.
 */
export abstract class Section extends HTMLElement {
  #drawing: Promise<void> | undefined;
  /** What is to be seen now. */
  protected abstract view(): View;

  /** Forgets all that belongs to a key: the page has another one now, or none. */
  protected abstract begin(): void;

  /** No part is ever removed, so it follows for good. */
  connectedCallback(): void {
    const beginAnew = () => {
      this.begin();
      this.draw();
    };
    this.follow(session);
    session.addEventListener('key', beginAnew);
    beginAnew();
  }

  /** Whenever something has changed, the part does what follows from it. */
  protected follow(target: EventTarget, act: () => void = () => this.draw()): void {
    target.addEventListener('change', act);
  }

  /** Draws it with the next frame in which nothing of it is pressed: a press on what moves would be lost. Resolves when it is drawn. */
  draw(): Promise<void> {
    this.#drawing ??= this.#drawWhenFree();
    return this.#drawing;
  }

  async #drawWhenFree(): Promise<void> {
    do await new Promise(requestAnimationFrame);
    while (this.querySelector(':is(button, label, summary):active'));
    this.#drawing = undefined;
    const focused = this.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    render(this.view(), this);
    if (!focused) return;
    if (!focused.isConnected || focused.matches(':disabled')) this.#focusHeading();
    else if (focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  /** What had the focus is gone: whoever works by keyboard goes on from here, and not from the top of the page. */
  #focusHeading(): void {
    const heading = this.querySelector('h2') ?? this;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
}
