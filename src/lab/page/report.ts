import type { Lab, LabTypes } from '../../client/index.ts';
import { reasonOf } from './api.ts';
import { save } from './copying.ts';
import { failureNote, type KeyContext, needsService, Panel } from './panel.ts';
import { html, nothing, prose, repeat, type View, when } from './template.ts';

/** The page and its service have one version, so the page knows all verdicts and results. */
type CheckResult = Omit<LabTypes.Report['checks'][number], 'result'> & { result: keyof typeof results };
type ReportCard = { verdict: keyof typeof verdicts; checks: CheckResult[] };

/** The shortest time between two reports. A report that takes long is asked for less often. */
const everyMs = 900;

const verdicts = {
  passed: ['good', '✓ Passed', 'All observed required checks passed.'],
  advised: [
    'warn',
    '! Passed, with advice',
    'All observed required checks passed. A recommended one failed.',
  ],
  failed: ['bad', '✕ Failed', 'A required check failed.'],
  incomplete: ['', '– Incomplete', 'No required check was observed yet.'],
} as const;

const results = {
  passed: ['good', '✓ passed'],
  failed: ['bad', '✕ failed'],
  advised: ['warn', '! failed'],
  not_observed: ['', '– not observed'],
} as const;

const files = [
  {
    label: 'Markdown',
    ending: 'md',
    type: 'text/markdown',
    read: (lab: Lab, id: string) => lab.getReportAsMarkdown(id),
  },
  {
    label: 'JUnit',
    ending: 'xml',
    type: 'application/xml',
    read: (lab: Lab, id: string) => lab.getReportAsJunit(id),
  },
  { label: 'HAR', ending: 'har', type: 'application/json', read: archiveOf },
] as const;

export class ReportPanel extends Panel {
  #shown: string | undefined;
  #report: ReportCard | undefined;
  #judged: string | undefined;
  #dueAtMs = 0;
  #isInView = false;
  #isAsking = false;
  #failure = '';
  #saving = '';

  constructor(element: HTMLElement, context: KeyContext) {
    super(element, context);
    const observer = new IntersectionObserver((entries) => {
      this.#isInView = entries.at(-1)?.isIntersecting ?? false;
      this.#update();
    });
    observer.observe(element);
    this.session.signal.addEventListener('abort', () => observer.disconnect());
    context.recording.onChange(() => this.#update());
  }

  get #judgedRequests() {
    return this.context.recording.requests.filter(({ labPage }) => !labPage);
  }

  protected view(): View {
    const { recording } = this.context;
    if (!recording.facts) return nothing;
    const report = this.#report;
    const isEmpty = this.#judgedRequests.length === 0;
    return html`<h2>Verdict</h2>
      ${failureNote(this.#failure)}
      ${when(isEmpty && !recording.isUnread, () => html`<p class="quiet">Checks judge the recorded requests. There are none yet.</p>`)}
      ${report && !isEmpty ? this.#card(report) : nothing}`;
  }

  #card({ verdict, checks }: ReportCard) {
    const of = (result: CheckResult['result']) => checks.filter((check) => check.result === result);
    const [failed, passed, unseen] = [of('failed'), of('passed'), of('not_observed')];
    const [kind, word, sentence] = verdicts[verdict === 'passed' && failed.length > 0 ? 'advised' : verdict];
    const newer = this.#judgedRequests.filter(({ id }) => Number(id) > Number(this.#judged)).length;
    const folded = (words: string, some: readonly CheckResult[]) =>
      some.length > 0
        ? html`<details><summary>${words}: ${some.length}</summary>${this.#checks(some)}</details>`
        : nothing;
    return html`<div class="card ${newer > 0 ? 'older' : ''}">
      <p class="verdict"><span class="badge ${kind}">${word}</span></p>
      <p>${sentence} <span class="quiet">Up to request #${this.#judged}${newer > 0 ? `; ${newer} newer` : ''}.</span></p>
      ${this.#faults()}
      ${this.#checks(failed)} ${folded('Passed', passed)} ${folded('Not observed', unseen)}
      <p class="quiet">The checks ignore the requests of this page, except those of its demos. A client that is still waiting counts as one that gave up.</p>
      <div class="row evidence">
        <span>Save as</span>
        ${needsService(this.session, html`${files.map((file) => html`<button type="button" aria-disabled=${this.#saving !== ''} @click=${() => this.#save(file)}>${file.label}</button>`)}`)}
      </div>
    </div>`;
  }

  #faults() {
    const names = this.#judgedRequests.flatMap(({ fault = '' }) => fault.split(' ').filter(Boolean));
    if (names.length === 0) return nothing;
    const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${name} (${all.length})`);
    return html`<p>Faults that affected the requests above: ${counts.join(', ')}.</p>`;
  }

  #checks(checks: readonly CheckResult[]) {
    return html`<ul class="checks">${repeat(
      checks,
      ({ name }) => name,
      ({ name, level, result, because, advice, guide, evidence }) => html`<li class=${result}>
        <div class="row">
          <span class="badge ${kindOf(level, result)[0]}">${kindOf(level, result)[1]}</span>
          <code>${name}</code>
          <span class="quiet">${level}</span>
        </div>
        <p><bdi>${because}</bdi></p>
        ${when(result === 'failed', () => html`<p><b>What to do:</b> ${prose(advice)} <a href="reference#tag/${slug(guide)}">${guide}</a></p>`)}
        ${when(
          evidence.length > 0,
          () =>
            html`<div class="row evidence"><span class="quiet">${evidence.length === 1 ? 'Request' : 'Requests'}</span>${evidence.map(
              (id) =>
                html`<button type="button" aria-label="Show request ${id}" @click=${() => this.context.recording.show(id)}>#${id}</button>`,
            )}</div>`,
        )}
      </li>`,
    )}</ul>`;
  }

  /** Asks for a report if there are new requests, and the panel is in view. */
  #update(): void {
    const { facts } = this.context.recording;
    const last = this.#judgedRequests.at(-1)?.id;
    if (this.#shown !== facts?.id) {
      this.#shown = facts?.id;
      this.#report = undefined;
      this.#judged = undefined;
      this.#dueAtMs = 0;
      this.#isAsking = false;
      this.#failure = '';
      this.#saving = '';
    }
    this.draw();
    if (!facts || last === undefined || !this.#isInView || document.hidden) return;
    if (performance.now() >= this.#dueAtMs && last !== this.#judged) void this.#ask();
  }

  async #ask(): Promise<void> {
    const { facts } = this.context.recording;
    if (!facts || this.#isAsking) return;
    this.#isAsking = true;
    const askedAtMs = performance.now();
    const judged = this.#judgedRequests.at(-1)?.id;
    try {
      const report = (await this.session.lab.getReport(facts.id)) as ReportCard;
      if (facts.id !== this.#shown) return;
      this.#report = report;
      this.#judged = judged;
      this.#failure = '';
    } catch (error) {
      if (facts.id !== this.#shown) return;
      this.#failure = reasonOf(error);
    }
    const tookMs = performance.now() - askedAtMs;
    this.#dueAtMs = askedAtMs + Math.max(everyMs, 4 * tookMs);
    this.#isAsking = false;
    this.draw();
  }

  async #save({ label, ending, type, read }: (typeof files)[number]): Promise<void> {
    const { facts } = this.context.recording;
    if (!facts || this.#saving) return;
    this.#saving = label;
    this.#failure = '';
    this.draw();
    try {
      save(`${facts.id}.${ending}`, type, await read(this.session.lab, facts.id));
    } catch (error) {
      if (facts.id === this.#shown) this.#failure = reasonOf(error);
    }
    if (facts.id === this.#shown) this.#saving = '';
    this.draw();
  }
}

/** The failure of a recommended check is advice. */
const kindOf = (level: string, result: CheckResult['result']) =>
  results[result === 'failed' && level === 'recommended' ? 'advised' : result];

const slug = (guide: string) => guide.toLowerCase().replaceAll(' ', '-');

/** The whole HTTP Archive of a recording. The lab sends it in parts. */
async function archiveOf(lab: Lab, id: string): Promise<string> {
  const whole = await lab.getHar(id);
  for (let part = whole; ; ) {
    const [, after] = /\?after=(\d+)$/.exec(part.log.comment ?? '') ?? [];
    if (!after) break;
    part = await lab.getHar(id, { after: Number(after) });
    whole.log.entries.push(...part.log.entries);
  }
  delete whole.log.comment;
  return JSON.stringify(whole, null, 2);
}
