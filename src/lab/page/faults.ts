import {
  type Draft,
  draftOf,
  type Fault,
  firstSentence,
  leftOf,
  planOf,
  type RehearsedFault,
  type Setting,
  settingsOf,
} from './fault-plan.ts';
import { counted, prose, timeOf } from './plain-text.ts';
import { type Change, rehearsing } from './rehearsal.ts';
import { asking, Section, type View } from './section.ts';
import { session } from './session.ts';
import { html, live, nothing, repeat, type TemplateResult } from './template.ts';
import { toCountdown } from './times.ts';

const usualMinutes = '10';
/** A day. */
const maxMinutes = 1_440;

class Faults extends Section {
  #drafts = new Map<string, Draft>();
  /** What the service refused, by the fault, or of all of them by an empty name. */
  #failures = new Map<string, string>();
  #minutes = usualMinutes;
  #rehearsalId: string | undefined;
  /** The groups of which a fault was on. The others are folded. */
  readonly #used = new Set<string>();

  constructor() {
    super();
    this.follow(rehearsing, () => this.#follow());
  }

  protected begin(): void {
    this.#drafts.clear();
    this.#failures.clear();
    this.#minutes = usualMinutes;
    this.#rehearsalId = undefined;
    this.#used.clear();
  }

  protected view(): View {
    if (!session.account) return nothing;
    const { catalogue, failure } = rehearsing;
    return html`<h2>Faults</h2>
      <p class="quiet">
        Hard cases on demand, for this key alone: also for what this page asks of the API. A rehearsal performs those that
        are on, for some minutes. A switch acts at once, and a change begins the rehearsal anew. Touched answers say so in
        <code>Petstore-Rehearsal</code>. A client must survive what is required.
      </p>
      ${this.#summary()} ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
      ${[...Map.groupBy(catalogue, ({ group }) => group)].map(([title, faults]) => this.#group(title, faults))}`;
  }

  /** The faults of a rehearsal that a command or another tab began are shown as they are. What is entered for others stays. */
  #follow(): void {
    const { shown, ownId } = rehearsing;
    if (shown && shown.id !== this.#rehearsalId && shown.id !== ownId)
      for (const { fault } of shown.faults) this.#drafts.delete(fault);
    this.#rehearsalId = shown?.id;
    this.draw();
  }

  #summary(): View {
    const { shown, isActive } = rehearsing;
    const minutes = html`<label class="minutes">
      Next rehearsal:
      <input
        type="number"
        min="1"
        max=${maxMinutes}
        .value=${live(this.#minutes)}
        @input=${(event: Event) => {
          this.#minutes = (event.target as HTMLInputElement).value;
        }}
      />
      minutes
    </label>`;
    if (!shown)
      return html`<div class="rehearsal"><div class="row spread"><p>No fault is on.</p>${minutes}</div>${this.#failure('')}</div>`;
    const { id, createdAt, expiresAt, endedAt, faults } = shown;
    return html`<div class="rehearsal" ?data-on=${isActive}>
      <div class="row spread">
        ${
          isActive
            ? html`<p><b>Active</b>: ends in <b class="left">${toCountdown(Date.parse(expiresAt) - session.nowMs())}</b></p>`
            : html`<p>No fault is on. <b>The last rehearsal</b> ended at ${timeOf(endedAt ?? expiresAt)}.</p>`
        }
        <p class="quiet">began at ${timeOf(createdAt)}, <code>${id}</code></p>
      </div>
      <ol class="performed">
        ${faults.map((fault) => this.#performed(fault, isActive))}
      </ol>
      ${
        isActive
          ? html`<div class="row">
              ${asking(html`<button type="button" @click=${() => this.#perform('', (plan) => plan)}>Begin anew</button>
                <button type="button" @click=${() => this.#perform('', () => [])}>End the rehearsal</button>`)}
            </div>`
          : nothing
      }
      ${minutes}
      ${this.#failure('')}
    </div>`;
  }

  #performed(rehearsed: RehearsedFault, isActive: boolean): TemplateResult {
    const fault = rehearsing.catalogue.find(({ name }) => name === rehearsed.fault);
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
          ${rehearsed.repeated ? html`<span class="badge warn">${rehearsed.repeated} came too soon</span>` : nothing}
        </span>
      </div>
      <p class="quiet">${[rehearsed.operation ?? 'every operation', ...settings].join(' · ')}</p>
    </li>`;
  }

  /** Unfolds when a fault of it is on, and then is folded by the reader alone: never under the hand that switches the last one off. */
  #group(title: string, faults: Fault[]): TemplateResult {
    const on = faults.filter(({ name }) => rehearsing.plan.some(({ fault }) => fault === name)).length;
    if (on) this.#used.add(title);
    return html`<details class="group" ?open=${this.#used.has(title)}>
      <summary>
        <h3>
          ${title}
          <small class=${on ? 'badge other' : 'quiet'}>${on ? `${on} of ${faults.length} on` : counted(faults.length, 'fault')}</small>
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

  #fault(fault: Fault): TemplateResult {
    const entries = rehearsing.plan.filter((plan) => plan.fault === fault.name);
    const isOn = entries.length > 0;
    const [first, others] = firstSentence(fault.does);
    const isChanged = this.#drafts.has(fault.name);
    const active = rehearsing.active.filter((rehearsed) => rehearsed.fault === fault.name);
    const isUsedUp = isOn && active.length > 0 && active.every((rehearsed) => leftOf(rehearsed, fault) === 0);
    return html`<li>
      <div class="row">
        ${asking(html`<label class="switch">
          <input
            type="checkbox"
            role="switch"
            .checked=${live(isOn)}
            @change=${(event: Event) => this.#turn(fault, (event.target as HTMLInputElement).checked)}
          /><code>${fault.name}</code>
        </label>`)}
        ${fault.level === 'required' ? html`<span class="badge other">required</span>` : nothing}
        ${entries.length > 1 ? html`<span class="badge">${entries.length} times</span>` : nothing}
        ${isUsedUp ? html`<span class="badge warn">used up</span>` : nothing}
      </div>
      <details>
        <summary>${prose(first)}</summary>
        ${others ? html`<p>${prose(others)}</p>` : nothing}
        <p><b>A good client:</b> ${prose(fault.goodClient)}</p>
        <p class="quiet"><b>Where it bites:</b> ${prose(fault.bites)}</p>
        ${this.#settings(fault)}
        ${entries.length > 1 ? html`<p>To apply puts one in place of all ${entries.length}.</p>` : nothing}
      </details>
      ${
        isOn && isChanged
          ? html`<div class="row">
              ${asking(html`<button type="button" class="primary" @click=${() => this.#turn(fault, true)}>Apply</button>`)}
              <span class="quiet">What you changed is not in force yet.</span>
            </div>`
          : nothing
      }
      ${this.#failure(fault.name)}
    </li>`;
  }

  /** What stands in the inputs of a fault. */
  #draft(fault: Fault): Draft {
    const plan = rehearsing.plan.find((planned) => planned.fault === fault.name);
    return this.#drafts.get(fault.name) ?? draftOf(fault, plan);
  }

  #settings(fault: Fault): View {
    const settings = settingsOf(fault);
    const draft = this.#draft(fault);
    const enter = (name: string) => (event: Event) => {
      const { value } = event.target as HTMLInputElement | HTMLSelectElement;
      // Several may be entered before the next frame.
      this.#drafts.set(fault.name, { ...this.#draft(fault), [name]: value });
      this.draw();
    };
    if (settings.length === 0 && !fault.takesOperation) return nothing;
    return html`<div class="settings">
      ${
        fault.takesOperation
          ? html`<label>
              <code>operation</code>
              <select @change=${enter('operation')}>
                ${['', ...fault.operations].map(
                  (id) =>
                    html`<option value=${id} .selected=${live(draft.operation === id)}>${id || `all ${fault.operations.length}`}</option>`,
                )}
              </select>
            </label>`
          : nothing
      }
      ${settings.map(
        (setting) => html`<label>
            <code>${setting.name}</code>
            <input
              type="number"
              min=${setting.minimum}
              max=${setting.maximum ?? nothing}
              aria-description=${setting.description}
              .value=${live(draft[setting.name] ?? '')}
              @input=${enter(setting.name)}
            />
          </label>
          <p class="quiet">${prose(setting.description)} ${rangeOf(setting)}</p>`,
      )}
    </div>`;
  }

  readonly #failure = (name: string): View => {
    const failure = this.#failures.get(name);
    return failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing;
  };

  /** Switches a fault on as it is entered, or off. All others stay as they are. */
  #turn(fault: Fault, isOn: boolean): void {
    const planned = isOn ? [planOf(fault, this.#draft(fault))] : [];
    void this.#perform(fault.name, (plan) => [
      ...plan.filter((other) => other.fault !== fault.name),
      ...planned,
    ]);
  }

  async #perform(name: string, change: Change): Promise<void> {
    const { signal } = session;
    const pressed = document.activeElement;
    const sent = this.#drafts.get(name);
    this.#failures.clear();
    const minutes = Number(this.#minutes || usualMinutes);
    const refusal =
      Number.isInteger(minutes) && minutes >= 1 && minutes <= maxMinutes
        ? await rehearsing.perform(change, minutes * 60)
        : { fault: '', reason: `A rehearsal lasts 1 to ${maxMinutes} whole minutes.` };
    if (signal.aborted) return;
    if (refusal) this.#failures.set(refusal.fault ?? name, refusal.reason);
    else {
      if (this.#drafts.get(name) === sent) this.#drafts.delete(name);
      // "Apply" goes now, and leaves the focus to the switch of its fault.
      if (pressed?.matches('button') && pressed === document.activeElement)
        pressed.closest('.faults > li')?.querySelector<HTMLElement>('.switch input')?.focus();
    }
    this.draw();
  }
}

const rangeOf = ({ minimum, maximum, default: usual }: Setting) =>
  `${maximum === undefined ? `At least ${minimum}` : `${minimum} to ${maximum}`}; ${usual} if empty.`;

customElements.define('lab-faults', Faults);
