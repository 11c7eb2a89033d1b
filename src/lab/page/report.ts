import { isOwn } from '../own-requests.ts';
import { burstSize } from './burst.ts';
import { save } from './copying.ts';
import { prose } from './plain-text.ts';
import { recording } from './recording.ts';
import { asking, Section, type View } from './section.ts';
import { reasonOf, session } from './session.ts';
import { html, nothing, repeat } from './template.ts';
import type { Check, RecordingFacts } from './types.ts';

/** A later version may have other verdicts and results; this page is of one version with its service. */
type CheckResult = Omit<Check, 'result'> & { result: keyof typeof results };
type ReportCard = { verdict: keyof typeof verdicts; checks: CheckResult[] };

/** It is asked for at most so often: to judge thousands of requests is work. */
const everyMs = 3_000;

const verdicts = {
  passed: ['good', '✓ Passed', 'No required check failed, and at least one was observed.'],
  failed: ['bad', '✕ Failed', 'A required check failed.'],
  incomplete: ['', '– Incomplete', 'No required check was observed yet.'],
} as const;

const results = {
  passed: ['good', '✓ passed'],
  failed: ['bad', '✕ failed'],
  not_observed: ['', '– not observed'],
} as const;

/** The forms in which a recording can be saved. */
const files = [
  {
    label: 'Markdown',
    ending: 'md',
    type: 'text/markdown',
    read: (id: string) => session.lab.getReportAsMarkdown(id),
  },
  {
    label: 'JUnit XML',
    ending: 'xml',
    type: 'application/xml',
    read: (id: string) => session.lab.getReportAsJunit(id),
  },
  { label: 'HAR', ending: 'har', type: 'application/json', read: archiveOf },
] as const;

class Report extends Section {
  /** The recording that all else here belongs to. */
  #shown: string | undefined;
  #report: ReportCard | undefined;
  /** The last request that it judges. */
  #judged: string | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #isInView = false;
  #isAsking = false;
  #failure = '';
  #saving = '';

  override connectedCallback(): void {
    super.connectedCallback();
    new IntersectionObserver((entries) => {
      this.#isInView = entries.at(-1)?.isIntersecting ?? false;
      this.#look();
    }).observe(this);
    this.follow(recording, () => this.#look());
  }

  protected begin(): void {
    this.#report = undefined;
    this.#judged = undefined;
    this.#askedAtMs = Number.NEGATIVE_INFINITY;
    this.#isAsking = false;
    this.#failure = '';
    this.#saving = '';
  }

  protected view(): View {
    if (!session.account) return nothing;
    const report = this.#report;
    const isEmpty = judgedOf().length === 0;
    return html`<div class="row spread">
        <h2>Report card</h2>
        ${isEmpty ? nothing : asking(html`<button type="button" @click=${() => this.#ask()}>Judge now</button>`)}
      </div>
      ${this.#failure ? html`<p class="failure" role="alert">${this.#failure}</p>` : nothing}
      ${isEmpty && !recording.isUnread ? html`<p class="quiet">Checks judge the recorded requests. There are none yet.</p>` : nothing}
      ${report && !isEmpty ? this.#card(report) : nothing}`;
  }

  #card({ verdict, checks }: ReportCard) {
    const [kind, word, sentence] = verdicts[verdict];
    const of = (result: CheckResult['result']) => checks.filter((check) => check.result === result);
    const unseen = of('not_observed');
    const newer = judgedOf().filter(({ id }) => Number(id) > Number(this.#judged)).length;
    return html`<p class="verdict"><span class="badge ${kind}">${word}</span> ${sentence}</p>
      <p class="quiet">${of('failed').length} failed, ${of('passed').length} passed, ${unseen.length} not observed, up to request #${this.#judged}${newer > 0 ? ` (${newer} newer)` : ''}.
        What this page asks for itself is not judged; what “Send ${burstSize} requests” sends is. A client that still waits looks like one that has given up.</p>
      ${this.#faults()}
      ${this.#checks([...of('failed'), ...of('passed')])}
      ${
        unseen.length > 0
          ? html`<details><summary>Not observed: ${unseen.length}</summary>${this.#checks(unseen)}</details>`
          : nothing
      }
      <div class="row">
        <span>Save as</span>
        ${asking(html`${files.map((file) => html`<button type="button" aria-disabled=${this.#saving !== ''} @click=${() => this.#save(file)}>${file.label}</button>`)}`)}
      </div>`;
  }

  #faults() {
    const names = judgedOf().flatMap(({ fault = '' }) => fault.split(' ').filter(Boolean));
    if (names.length === 0) return nothing;
    const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${name} (${all.length})`);
    return html`<p>Faults that touched the requests above: ${counts.join(', ')}.</p>`;
  }

  #checks(checks: readonly CheckResult[]) {
    return html`<ul class="checks">${repeat(
      checks,
      ({ name }) => name,
      ({ name, level, result, because, advice, guide, evidence }) => html`<li class=${result}>
        <div class="row">
          <span class="badge ${results[result][0]}">${results[result][1]}</span>
          <code>${name}</code>
          <span class="quiet">${level}</span>
        </div>
        <p><bdi>${because}</bdi></p>
        ${
          result === 'failed'
            ? html`<p><b>What to do:</b> ${prose(advice)} <a href="reference#tag/${slug(guide)}">${guide}</a></p>`
            : nothing
        }
        ${
          evidence.length > 0
            ? html`<div class="row evidence"><span class="quiet">${evidence.length === 1 ? 'Request' : 'Requests'}</span>${evidence.map(
                (id) =>
                  html`<button type="button" aria-label="Show request ${id}" @click=${() => recording.show(id)}>#${id}</button>`,
              )}</div>`
            : nothing
        }
      </li>`,
    )}</ul>`;
  }

  /** Asks for it if there is anything new, and anybody who sees it. */
  #look(): void {
    const { facts } = recording;
    const last = judgedOf().at(-1)?.id;
    if (this.#shown !== facts?.id) {
      this.begin();
      this.#shown = facts?.id;
    }
    this.draw();
    if (!facts || last === undefined || !this.#isInView || document.hidden) return;
    const isDue = performance.now() - this.#askedAtMs >= everyMs;
    if (isDue && last !== this.#judged) void this.#ask();
  }

  /** Tells later whether another recording is shown, or another key is used, so that what was asked belongs to nothing here. */
  #overFrom({ id }: RecordingFacts): () => boolean {
    const { signal } = session;
    return () => signal.aborted || id !== this.#shown;
  }

  async #ask(): Promise<void> {
    const { facts } = recording;
    if (!facts || this.#isAsking) return;
    const isOver = this.#overFrom(facts);
    const { signal } = session;
    this.#isAsking = true;
    this.#askedAtMs = performance.now();
    const judged = judgedOf().at(-1)?.id;
    try {
      const report = (await session.lab.getReport(facts.id, { signal })) as ReportCard;
      if (isOver()) return;
      this.#report = report;
      this.#judged = judged;
      this.#failure = '';
    } catch (error) {
      if (isOver()) return;
      this.#failure = reasonOf(error);
    } finally {
      if (!isOver()) this.#isAsking = false;
      this.draw();
    }
  }

  async #save({ label, ending, type, read }: (typeof files)[number]): Promise<void> {
    const { signal } = session;
    const { facts } = recording;
    if (!facts || this.#saving) return;
    const isOver = this.#overFrom(facts);
    this.#saving = label;
    this.#failure = '';
    this.draw();
    try {
      const text = await read(facts.id);
      if (signal.aborted) return;
      save(`${facts.id}.${ending}`, type, text);
    } catch (error) {
      if (!isOver()) this.#failure = reasonOf(error);
    }
    if (!isOver()) this.#saving = '';
    this.draw();
  }
}

/** The requests that a report card goes by. */
const judgedOf = () => recording.requests.filter((request) => !isOwn(request));

const slug = (guide: string) => guide.toLowerCase().replaceAll(' ', '-');

/** The whole HTTP Archive of a recording, which comes in parts. */
async function archiveOf(id: string): Promise<string> {
  const { signal } = session;
  const whole = await session.lab.getHar(id, {}, { signal });
  for (let part = whole; ; ) {
    const [, after] = /\?after=(\d+)$/.exec(part.log.comment ?? '') ?? [];
    if (!after) break;
    part = await session.lab.getHar(id, { after: Number(after) }, { signal });
    whole.log.entries.push(...part.log.entries);
  }
  delete whole.log.comment;
  return JSON.stringify(whole, null, 2);
}

customElements.define('lab-report', Report);
