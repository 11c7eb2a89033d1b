import { counted } from '../../foundation/words.ts';
import type { RecordedRequest } from '../recordings/schema.ts';
import { type Attempt, attemptsOf } from '../recordings/timeline-layout.ts';
import { reasonOf } from './api.ts';
import { type Copying, copied } from './copying.ts';
import { drawTimeLine } from './draw-timeline.ts';
import { commandBlock, commandOf, firstSteps, shownCommand } from './first-steps.ts';
import { showTab } from './navigation.ts';
import { failureNote, type KeyContext, needsService, Panel } from './panel.ts';
import { maxRequests, type RecordingFacts } from './recording.ts';
import { filterBar, inScope, type RequestFilter, wantedOf } from './request-filters.ts';
import { drawDetails, drawLine } from './request-row.ts';
import { html, live, nothing, plain, repeat, type TemplateResult, type View, when } from './template.ts';
import { timeLineOf } from './timeline.ts';
import { toLocalTime } from './times.ts';

const rowsOnPage = 100;

export class RequestsPanel extends Panel {
  #wanted: RequestFilter = { only: new Set(), path: '', own: false };
  /** The last drawn rows. While the user reads them, new ones wait. */
  #held: readonly RecordedRequest[] | undefined;
  /** An opened request that is not among the newest any more. */
  #older: RecordedRequest | undefined;
  #open: string | undefined;
  /** How often a row was opened or left. */
  #turns = 0;
  #page = 0;
  #copying: Copying | undefined;
  #failure = '';

  constructor(element: HTMLElement, context: KeyContext) {
    super(element, context);
    const { session, recording } = context;
    let shown: string | undefined;
    recording.onChange(() => {
      if (shown !== recording.facts?.id) {
        // The filters stay: in another recording the user looks for the same.
        this.#rest();
        this.#failure = '';
      }
      shown = recording.facts?.id;
      this.draw();
    });
    recording.show = (id) => void this.#show(id);
    const closeByEscape = ({ key, target }: KeyboardEvent) => {
      const isInRow = (target as Element).closest('li');
      if (key === 'Escape' && isInRow && this.#open !== undefined) this.#close(this.#open);
    };
    element.addEventListener('keydown', closeByEscape, { signal: session.signal });
  }

  protected view(): View {
    const { recording } = this.context;
    if (!recording.isKnown) return nothing;
    const { facts } = recording;
    const act = (act: () => Promise<void>) => void this.#do(act);
    const steps = {
      context: this.context,
      act,
      copy: () => void this.#copyCommand(),
      copying: this.#copying,
    };
    const failures = html`${failureNote(this.#failure)} ${failureNote(recording.failure)}`;
    if (!facts) return html`${firstSteps(steps)} ${failures}`;
    const isQuiet = !recording.isUnread && recording.requests.every(({ labPage }) => labPage);
    return html`${recordingHead(this.context, facts, act)} ${failures}
      ${when(isQuiet && !recording.isActive, () => html`<p>No request was recorded.</p>`)}
      ${when(isQuiet && recording.isActive, () => html`<p>Waiting for the first request. Start your client, or send this:</p>${commandBlock(steps)}`)}
      ${when(recording.requests.length > 0, () => this.#rows())}`;
  }

  /** Whether there is a request that the user may want to see. */
  #hasRows(): boolean {
    return this.context.recording.requests.some((one) => this.#wanted.own || !one.labPage);
  }

  #rows() {
    const { recording } = this.context;
    const kept = (this.#isReading() && this.#held) || recording.requests;
    this.#held = kept;
    const now = inScope(recording.requests, this.#wanted);
    const scope = kept === recording.requests ? now : inScope(kept, this.#wanted);
    const rows = wantedOf(scope, this.#wanted).reverse();
    const last = Number(kept.at(-1)?.id);
    const since = now.filter(({ request }) => Number(request.id) > last);
    const waiting = wantedOf(since, this.#wanted).length;
    const line = timeLineOf(now);
    return html`${line ? drawTimeLine(line, (id) => recording.show(id)) : nothing}
      ${filterBar({
        wanted: this.#wanted,
        attempts: this.#hasRows() ? scope : undefined,
        own: kept.filter(({ labPage }) => labPage).length,
        want: (change) => {
          this.#wanted = { ...this.#wanted, ...change(this.#wanted) };
          this.#rest();
        },
      })}
      ${this.#olderRow(kept)}
      ${when(this.#hasRows(), () => this.#list(rows, waiting))}`;
  }

  #list(rows: readonly Attempt[], waiting: number) {
    const from = this.#page * rowsOnPage;
    const drawn = rows.slice(from, from + rowsOnPage);
    return html`<div class="row bar">
        <span class="quiet">${this.#place(from, rows.length)}</span>
        ${when(rows.length > rowsOnPage, () => this.#pages(from, rows.length))}
        ${when(waiting > 0, () => html`<button type="button" class="primary" @click=${() => this.#toNewest()}>${waiting.toLocaleString('en')} new</button>`)}
      </div>
      <div class="list" tabindex="-1" role="region" aria-label="Recorded requests, the newest first">
        <div class="heads" aria-hidden="true">
          <span># Time</span><span>Method</span><span>Path</span><span>Response</span><span>Took</span><span>Gap</span>
        </div>
        ${
          drawn.length > 0
            ? html`<ol>${repeat(
                drawn,
                ({ request }) => request.id,
                (attempt) => html`<li class="request">${this.#row(attempt)}</li>`,
              )}</ol>`
            : html`<p class="quiet">No stored request matches.</p>`
        }
      </div>`;
  }

  #olderRow(kept: readonly RecordedRequest[]) {
    const older = this.#older;
    if (!older) return nothing;
    const attempt = attemptsOf([older, ...kept]).find(({ request }) => request === older);
    return html`<p class="quiet">An earlier request:</p>
      <ol class="older"><li>${attempt && this.#row(attempt)}</li></ol>`;
  }

  #row(attempt: Attempt) {
    const { id } = attempt.request;
    const isOpen = this.#open === id;
    return html`${drawLine(attempt, isOpen, () => (this.#open === id ? this.#close(id) : this.#expand(id)))}
      ${isOpen ? drawDetails(attempt, this.#copying, (text, message) => this.#copy(text, message)) : nothing}`;
  }

  #place(from: number, count: number): string {
    const of = counted(count, 'request');
    return count > rowsOnPage ? `${from + 1} to ${Math.min(count, from + rowsOnPage)} of ${of}` : of;
  }

  #pages(from: number, count: number) {
    const turn = (by: number) => {
      const page = this.#page + by;
      if (page < 0 || page * rowsOnPage >= count) return;
      this.#page = page;
      this.#unfold();
      this.#top();
    };
    return html`<button type="button" aria-disabled=${from === 0} @click=${() => turn(-1)}>Newer</button>
      <button type="button" aria-disabled=${from + rowsOnPage >= count} @click=${() => turn(1)}>Older</button>`;
  }

  /** Whether rows that move would disturb the user. */
  #isReading(): boolean {
    return (
      this.#page > 0 ||
      this.#open !== undefined ||
      (this.element.querySelector('.list')?.scrollTop ?? 0) > 0 ||
      this.element.querySelector('.list :focus-visible') !== null
    );
  }

  #rest(): void {
    this.#held = undefined;
    this.#older = undefined;
    this.#unfold();
    this.#page = 0;
    this.#top();
  }

  #top(): void {
    this.element.querySelector('.list')?.scrollTo(0, 0);
    this.draw();
  }

  #toNewest(): void {
    this.#rest();
    this.element.querySelector<HTMLElement>('.list')?.focus({ preventScroll: true });
  }

  #unfold(id?: string): void {
    this.#turns++;
    this.#open = id;
    this.#copying = undefined;
  }

  #expand(id: string): void {
    this.#unfold(id);
    this.draw();
    this.#reach(id, false);
  }

  #close(id: string): void {
    this.#unfold();
    this.draw();
    this.element.querySelector<HTMLElement>(`[data-id="${id}"].line`)?.focus({ preventScroll: true });
  }

  /** Opens a row, which may have to be read first, unless the user opens another one meanwhile. */
  async #show(id: string): Promise<void> {
    const { recording } = this.context;
    showTab('requests');
    const turn = ++this.#turns;
    this.#failure = '';
    try {
      const request = await recording.request(id);
      if (turn !== this.#turns) return;
      if (!request) {
        this.#failure = `Request #${id} is no longer stored.`;
        return this.draw();
      }
      const isKept = recording.requests.includes(request);
      this.#held = recording.requests;
      const place = () =>
        wantedOf(inScope(recording.requests, this.#wanted), this.#wanted)
          .reverse()
          .findIndex((attempt) => attempt.request === request);
      if (isKept && place() < 0)
        this.#wanted = { only: new Set(), path: '', own: this.#wanted.own || request.labPage === true };
      this.#older = isKept ? undefined : request;
      this.#page = isKept ? Math.floor(place() / rowsOnPage) : 0;
      this.#unfold(id);
    } catch (error) {
      if (turn !== this.#turns) return;
      this.#failure = reasonOf(error);
    }
    this.draw();
    this.#reach(id, true);
  }

  /** Scrolls to a row once it is drawn. */
  #reach(id: string, takesFocus: boolean): void {
    void this.draw().then(() => {
      const line = this.element.querySelector<HTMLElement>(`[data-id="${id}"].line`);
      const item = line?.parentElement;
      if (takesFocus) line?.focus({ preventScroll: true });
      item?.scrollIntoView({ block: item.offsetHeight > 400 ? 'start' : 'nearest' });
    });
  }

  /** The key goes to the clipboard alone. */
  async #copyCommand(): Promise<void> {
    const { key } = this.session;
    if (await copied(commandOf(key))) this.#copying = { message: 'Copied.' };
    else await this.#copy(shownCommand(key), 'Copied. Replace the shortened key with your whole key.');
    this.draw();
  }

  async #copy(text: string, message: string): Promise<void> {
    const refusal = `The browser does not let this page copy. ${message.replace('Copied', 'Copy it here')}`;
    this.#copying = (await copied(text)) ? { message } : { message: refusal, text };
    await this.draw();
    this.element.querySelector<HTMLTextAreaElement>('.to-copy')?.select();
  }

  async #do(act: () => Promise<void>): Promise<void> {
    this.#failure = '';
    try {
      await act();
    } catch (error) {
      this.#failure = reasonOf(error);
    }
    this.draw();
  }
}

/** The shown recording, and the controls that start, end and choose one. `act` performs an action, and shows why it failed. */
function recordingHead(
  context: KeyContext,
  facts: RecordingFacts,
  act: (act: () => Promise<void>) => void,
): TemplateResult {
  const { session, recording } = context;
  const { isActive, requests } = recording;
  const count = Number(requests.at(-1)?.id ?? facts.requests);
  const own = requests.filter(({ labPage }) => labPage).length;
  const counts = [
    counted(count, 'request'),
    count > maxRequests && `the newest ${maxRequests.toLocaleString('en')} are shown`,
    own > 0 && `${own} of them sent by this page`,
    facts.leftOut > 0 && `${counted(facts.leftOut, 'request')} not stored`,
  ];
  const button = (words: string, send: () => Promise<void>) =>
    needsService(
      session,
      html`<button type="button" aria-disabled=${recording.isBusy} @click=${() => act(send)}>${words}</button>`,
    );
  return html`<div class="row head">
      <h2>Requests</h2>
      <span class="badge ${isActive ? 'bad' : ''}">${isActive ? '● Recording' : '■ Ended'}</span>
      <p class="quiet">${facts.name ? html`“<bdi>${facts.name}</bdi>”` : facts.id}, since ${toLocalTime(Date.parse(facts.createdAt), session.nowMs())}: ${counts.filter(Boolean).join('; ')}</p>
      ${recording.all.length > 1 ? chooser(context) : nothing}
      ${isActive ? button('Stop recording', () => recording.stop()) : nothing}
      ${session.account?.recording ? nothing : button('Record again', () => recording.start())}
    </div>`;
}

function chooser({ session, recording }: KeyContext): TemplateResult {
  const choose = ({ target }: Event) => recording.choose((target as HTMLSelectElement).value);
  return needsService(
    session,
    html`<select aria-label="Recording" @change=${choose}>${recording.all.map(
      ({ id, name, createdAt }) =>
        html`<option value=${id} .selected=${live(id === recording.chosen)}>${plain(name || id)}, ${toLocalTime(Date.parse(createdAt), session.nowMs())}</option>`,
    )}</select>`,
  );
}
