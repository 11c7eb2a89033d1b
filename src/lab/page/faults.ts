import { counted, firstSentence } from '../../foundation/words.ts';
import {
  type CatalogueFault,
  type Draft,
  draftOf,
  type FaultSetting,
  type FaultWithCounts,
  leftOf,
  planOf,
  settingsOf,
} from './fault-plan.ts';
import { failureNote, type KeyContext, needsService, Panel } from './panel.ts';
import type { PlanChange } from './rehearsal.ts';
import {
  html,
  live,
  nothing,
  prose,
  repeat,
  type TemplateResult,
  timeOf,
  type View,
  when,
} from './template.ts';
import { toCountdown } from './times.ts';

const usualMinutes = '10';
const maxMinutes = 24 * 60;

export class FaultsPanel extends Panel {
  /** Inputs that are not sent yet, by the fault. */
  readonly #drafts = new Map<string, Draft>();
  #minutes = usualMinutes;
  #rehearsalId: string | undefined;
  /** The groups in which a fault was on. The others are folded. */
  readonly #used = new Set<string>();

  constructor(element: HTMLElement, context: KeyContext) {
    super(element, context);
    context.rehearsal.onChange(() => this.#follow());
  }

  protected view(): View {
    const { catalogue, failure } = this.context.rehearsal;
    return html`<h2>Faults</h2>
      <p class="quiet">
        Faults affect only this key, including this page's own requests. A switch takes effect at once and restarts the rehearsal.
        Changed responses have the header <code>Petstore-Rehearsal</code>. A client must survive the required faults.
      </p>
      ${this.#summary()} ${failureNote(failure)}
      ${[...Map.groupBy(catalogue, ({ group }) => group)].map(([title, faults]) => this.#group(title, faults))}`;
  }

  /** Shows the faults of a rehearsal that a command or another tab started. The inputs of other faults stay. */
  #follow(): void {
    const { shown, ownId } = this.context.rehearsal;
    if (shown && shown.id !== this.#rehearsalId && shown.id !== ownId)
      for (const { fault } of shown.faults) this.#drafts.delete(fault);
    this.#rehearsalId = shown?.id;
    this.draw();
  }

  #summary(): View {
    const { shown, isActive } = this.context.rehearsal;
    const minutes = html`<label class="minutes">
      Next rehearsal:
      <input type="number" min="1" max=${maxMinutes} .value=${live(this.#minutes)} @input=${(
        event: Event,
      ) => {
        this.#minutes = (event.target as HTMLInputElement).value;
      }} />
      minutes
    </label>`;
    if (!shown)
      return html`<div class="rehearsal"><div class="row spread"><p>No fault is on.</p>${minutes}</div>${this.failure()}</div>`;
    const { id, createdAt, expiresAt, endedAt, faults } = shown;
    return html`<div class="rehearsal" ?data-on=${isActive}>
      <div class="row spread">
        ${
          isActive
            ? html`<p><b>Active</b>: ends in <b class="left">${toCountdown(Date.parse(expiresAt) - this.session.nowMs())}</b></p>`
            : html`<p>No fault is on. <b>The last rehearsal</b> ended at ${timeOf(endedAt ?? expiresAt)}.</p>`
        }
      </div>
      <details ?open=${isActive}>
        <summary>${counted(faults.length, 'fault')}, started at ${timeOf(createdAt)}</summary>
        <p class="quiet"><code>${id}</code></p>
        <ol class="performed">
          ${faults.map((fault) => this.#performed(fault, isActive))}
        </ol>
      </details>
      ${when(
        isActive,
        () => html`<div class="row">
              ${needsService(
                this.session,
                html`<button type="button" @click=${() => this.#perform('', (plan) => plan)}>Start again</button>
                <button type="button" @click=${() => this.#perform('', () => [])}>End the rehearsal</button>`,
              )}
            </div>`,
      )}
      ${minutes}
      ${this.failure()}
    </div>`;
  }

  #performed(rehearsed: FaultWithCounts, isActive: boolean): TemplateResult {
    const fault = this.context.rehearsal.catalogue.find(({ name }) => name === rehearsed.fault);
    const left = isActive ? leftOf(rehearsed, fault) : undefined;
    const isForEach = rehearsed.performed + (left ?? 0) > Number(rehearsed.times ?? Number.POSITIVE_INFINITY);
    const settings = fault
      ? settingsOf(fault)
          .filter(({ name }) => rehearsed[name])
          .map(({ name }) => `${name} ${rehearsed[name]}${name === 'times' && isForEach ? ' of each' : ''}`)
      : [];
    return html`<li>
      <div class="row spread">
        <code>${rehearsed.fault}</code>
        <span>
          <b>${rehearsed.performed}</b> performed${left === undefined ? nothing : html`, <b>${left}</b> left`}
          ${when(rehearsed.repeated, () => html`<span class="badge warn">${rehearsed.repeated} came too soon</span>`)}
        </span>
      </div>
      <p class="quiet">${[rehearsed.operation ?? 'every operation', ...settings].join(' · ')}</p>
    </li>`;
  }

  /** A group unfolds when one of its faults is on. Only the user folds it again. */
  #group(title: string, faults: CatalogueFault[]): TemplateResult {
    const on = faults.filter(({ name }) =>
      this.context.rehearsal.plan.some(({ fault }) => fault === name),
    ).length;
    if (on) this.#used.add(title);
    return html`<details class="group" ?open=${this.#used.has(title)}>
      <summary>
        <h3>
          ${title}
          <small class=${on ? 'badge other' : 'quiet'}>${on ? `${on} of ${faults.length} on` : html`${faults.length}<span class="unseen"> faults</span>`}</small>
        </h3>
      </summary>
      <ul class="faults">
        ${repeat(
          faults,
          ({ name }) => name,
          (fault) => this.#fault(fault),
        )}
      </ul>
    </details>`;
  }

  #fault(fault: CatalogueFault): TemplateResult {
    const { rehearsal } = this.context;
    const entries = rehearsal.plan.filter((plan) => plan.fault === fault.name);
    const isOn = entries.length > 0;
    const [first, others] = firstSentence(fault.does);
    const isChanged = this.#drafts.has(fault.name);
    const active = rehearsal.active.filter((rehearsed) => rehearsed.fault === fault.name);
    const isUsedUp = isOn && active.length > 0 && active.every((rehearsed) => leftOf(rehearsed, fault) === 0);
    return html`<li>
      <div class="row">
        ${needsService(
          this.session,
          html`<label class="switch">
          <input type="checkbox" role="switch" .checked=${live(isOn)}
            @change=${(event: Event) => this.#turn(fault, (event.target as HTMLInputElement).checked)} /><code>${fault.name}</code>
        </label>`,
        )}
        ${when(fault.level === 'required', () => html`<span class="badge other">required</span>`)}
        ${when(entries.length > 1, () => html`<span class="badge">${entries.length} times</span>`)}
        ${when(isUsedUp, () => html`<span class="badge warn">used up</span>`)}
      </div>
      <details>
        <summary>${prose(first)}</summary>
        ${when(others, () => html`<p>${prose(others)}</p>`)}
        <p><b>A good client:</b> ${prose(fault.goodClient)}</p>
        <p class="quiet"><b>Why it matters:</b> ${prose(fault.bites)}</p>
        ${this.#settings(fault)}
        ${when(entries.length > 1, () => html`<p>“Apply” replaces all ${entries.length} with one.</p>`)}
      </details>
      ${when(
        isOn && isChanged,
        () => html`<div class="row">
              ${needsService(this.session, html`<button type="button" class="primary" @click=${() => this.#turn(fault, true)}>Apply</button>`)}
              <span class="quiet">Your changes are not applied yet.</span>
            </div>`,
      )}
      ${this.failure(fault.name)}
    </li>`;
  }

  #draft(fault: CatalogueFault): Draft {
    const plan = this.context.rehearsal.plan.find((planned) => planned.fault === fault.name);
    return this.#drafts.get(fault.name) ?? draftOf(fault, plan);
  }

  #settings(fault: CatalogueFault): View {
    const settings = settingsOf(fault);
    const draft = this.#draft(fault);
    const enter = (name: string) => (event: Event) => {
      const { value } = event.target as HTMLInputElement | HTMLSelectElement;
      // The user may change several before the next frame.
      this.#drafts.set(fault.name, { ...this.#draft(fault), [name]: value });
      this.draw();
    };
    const isOperationChosen = fault.takesOperation && fault.operations.length > 1;
    if (settings.length === 0 && !isOperationChosen) return nothing;
    return html`<div class="settings">
      ${when(
        isOperationChosen,
        () => html`<label>
              <code>operation</code>
              <select @change=${enter('operation')}>
                ${optionsOf(['', ...fault.operations], draft.operation, `all ${fault.operations.length}`)}
              </select>
            </label>`,
      )}
      ${settings.map(
        (setting) => html`<label>
            <code>${setting.name}</code>
            ${
              setting.values
                ? html`<select aria-description=${setting.description} @change=${enter(setting.name)}>
                    ${optionsOf(setting.values, draft[setting.name])}
                  </select>`
                : html`<input type="number" min=${setting.minimum ?? nothing} max=${setting.maximum ?? nothing}
                    aria-description=${setting.description} .value=${live(draft[setting.name] ?? '')} @input=${enter(setting.name)} />`
            }
          </label>
          <p class="quiet">${prose(setting.description)} ${rangeOf(setting)}</p>`,
      )}
    </div>`;
  }

  #turn(fault: CatalogueFault, isOn: boolean): void {
    const planned = isOn ? [planOf(fault, this.#draft(fault))] : [];
    void this.#perform(fault.name, (plan) => [
      ...plan.filter((other) => other.fault !== fault.name),
      ...planned,
    ]);
  }

  /** Changes the faults. A refusal is shown at its fault, or at all faults if the name is empty. */
  async #perform(name: string, change: PlanChange): Promise<void> {
    const pressed = document.activeElement;
    const sent = this.#drafts.get(name);
    this.failures.clear();
    const minutes = Number(this.#minutes || usualMinutes);
    const refusal =
      Number.isInteger(minutes) && minutes >= 1 && minutes <= maxMinutes
        ? await this.context.rehearsal.perform(change, minutes * 60)
        : { fault: '', reason: `Enter whole minutes from 1 to ${maxMinutes}.` };
    if (refusal) this.failures.set(refusal.fault ?? name, refusal.reason);
    else {
      if (this.#drafts.get(name) === sent) this.#drafts.delete(name);
      // "Apply" disappears now. Its focus goes to the switch of the fault.
      if (pressed?.matches('button') && pressed === document.activeElement)
        pressed.closest('.faults > li')?.querySelector<HTMLElement>('.switch input')?.focus();
    }
    this.draw();
  }
}

/** The options of a choice. The empty value is shown as `empty`. */
const optionsOf = (values: readonly string[], chosen: string | undefined, empty = '') =>
  values.map(
    (value) => html`<option value=${value} .selected=${live(chosen === value)}>${value || empty}</option>`,
  );

const rangeOf = ({ values, minimum, maximum, default: usual }: FaultSetting) =>
  values
    ? ''
    : `${maximum === undefined ? `At least ${minimum}` : `${minimum} to ${maximum}`}. Default: ${usual}.`;

/** The number of active faults, on the button of the drawer. */
export class FaultCountPanel extends Panel {
  protected view(): View {
    const { length } = this.context.rehearsal.active;
    return length > 0 ? html`<span class="badge other">${length} on</span>` : nothing;
  }
}
