import { useKey } from '../../access/keys/browser-key.ts';
import type { AccountTypes } from '../../client/index.ts';
import { type OpenPlan, plans } from '../../foundation/settings/plans.ts';
import { capitalized, grouped } from '../../foundation/words.ts';
import type { KeyAccount } from './account.ts';
import { forgetId, idOf } from './kept-id.ts';
import { needsService, Panel } from './panel.ts';
import { html, type TemplateResult, type View, when } from './template.ts';
import { clockTime } from './times.ts';

type Act = () => Promise<void>;

/** What an action does, and the buttons that do it. */
interface Question {
  name: string;
  text: View | string;
  answers: readonly (readonly [text: string, act: Act])[];
}

const rotation = 'petstore-rotation';

/** The plan of the key in the header, and what the key may do with its account. */
export class AccountPanel extends Panel {
  /** What the service says about the account. It is read for each plan that the key gets. */
  #own: AccountTypes.OwnAccount | undefined;
  #readFor = '';
  #asked: Question | undefined;

  protected view({ plan }: KeyAccount): View {
    if (this.#readFor !== plan) void this.#read(plan);
    return html`<div class="row">
        <span>Plan <strong>${capitalized(plan)}</strong></span>
        ${this.#questions(plan).map((question) => this.#opener(question))}
      </div>
      ${when(this.#own?.oldKeyUntil, (until) => this.#oldSecret(until))}
      ${when(this.#asked, (asked) => this.#question(asked))}`;
  }

  /** What the key may do. */
  #questions(plan: string): Question[] {
    if (!this.#own) return [];
    const { upgrades, canChangeKey, canDelete, workspace } = this.#own;
    const others = upgrades.filter((open) => open !== plan) as OpenPlan[];
    const all: Question[] = [
      {
        name: 'Change plan',
        text: 'The new limits apply from the next request. The counts of the minute and the day stay, and so does a ban.',
        answers: others.map((open) => [nameOf(open), () => this.#change(open)]),
      },
      {
        name: 'New secret',
        text: 'This page uses the new secret at once. The old one still sends requests for an hour: change your programs within this time.',
        answers: canChangeKey ? [['Make a new secret', () => this.#rotate()]] : [],
      },
      {
        name: 'Delete …',
        text: html`<strong>The workspace “<bdi>${workspace}</bdi>”, its data and its keys are deleted.</strong> You cannot undo it.`,
        answers: canDelete ? [['Delete the workspace', () => this.#delete()]] : [],
      },
    ];
    return all.filter(({ answers }) => answers.length > 0);
  }

  #opener(question: Question): TemplateResult {
    const isOpen = this.#asked?.name === question.name;
    return html`<button type="button" aria-expanded=${isOpen} @click=${() => this.#ask(isOpen ? undefined : question)}>${question.name}</button>`;
  }

  #ask(question: Question | undefined): void {
    this.#asked = question;
    this.failures.clear();
    this.draw();
  }

  #question({ name, text, answers }: Question): TemplateResult {
    const buttons = answers.map(([text, act]) => this.#button(text, act));
    return html`<div class="question" role="group" aria-label=${name}>
      <p>${text}</p>
      ${needsService(this.session, html`<div class="row">${buttons}<button type="button" @click=${() => this.#ask(undefined)}>Cancel</button></div>`)}
      ${this.failure()}
    </div>`;
  }

  #button(text: string, act: Act, action = ''): TemplateResult {
    return html`<button type="button" aria-disabled=${this.isRunning(action)} @click=${() => void this.run(act, action)}>${text}</button>`;
  }

  #oldSecret(until: string): TemplateResult {
    return html`<div class="question row">
      <span>The old secret works until ${clockTime(new Date(until))}.</span>
      ${this.#button('End it now', () => this.#endOld(), 'old')} ${this.failure('old')}
    </div>`;
  }

  async #read(plan: string): Promise<void> {
    this.#readFor = plan;
    this.#own = await this.session.accounts.getOwnAccount().catch(() => this.#own);
    this.draw();
  }

  async #change(plan: OpenPlan): Promise<void> {
    this.#own = await this.session.accounts.changePlan({ plan });
    this.#readFor = plan;
    this.#asked = undefined;
    await this.session.refresh();
  }

  async #rotate(): Promise<void> {
    const idempotencyKey = idOf(rotation, this.session.key.slice(0, 8));
    const { key } = await this.session.accounts.changeKey({}, { idempotencyKey });
    forgetId(rotation);
    if (key) useKey(key, 'This is the new secret.');
  }

  async #endOld(): Promise<void> {
    await this.session.accounts.changeKey({ revokeOldNow: true });
    await this.#read(this.#readFor);
  }

  async #delete(): Promise<void> {
    await this.session.accounts.deleteOwnAccount();
    useKey('', 'The workspace and its keys are deleted.');
  }
}

/** `Pro: 300 requests a minute, 10,000 a day` */
function nameOf(plan: OpenPlan): string {
  const { perMinute, perDay } = plans[plan];
  return `${capitalized(plan)}: ${grouped(perMinute)} requests a minute, ${grouped(perDay)} a day`;
}
