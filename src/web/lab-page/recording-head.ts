import { isOwn } from '../../lab/own-requests.ts';
import { needsService } from './panel.ts';
import { counted, plain } from './plain-text.ts';
import { maxRequests, recording } from './recording.ts';
import { session } from './session.ts';
import { html, live, nothing, type TemplateResult, type View } from './template.ts';
import { toLocalTime } from './times.ts';

interface Options {
  /** Shown beside the facts of the recording. */
  tools: View;
  /** Performs an action, and shows why it failed. */
  act(act: () => Promise<void>): void;
}

/** The shown recording, and the controls that start, end and choose one. */
export function recordingHead({ tools, act }: Options): TemplateResult {
  const { facts, isActive, requests } = recording;
  if (!facts)
    return html`<h2>Requests</h2>
      <p>A recording keeps what is sent with this key, and what comes of it. There is none yet.</p>
      ${starter('Start recording', act)}`;
  const count = Number(requests.at(-1)?.id ?? facts.requests);
  const own = requests.filter(isOwn).length;
  const counts = [
    counted(count, 'request'),
    count > maxRequests && `the newest ${maxRequests.toLocaleString('en')} are here`,
    own > 0 && `${own} of them by this page for itself`,
    facts.leftOut > 0 && `${counted(facts.leftOut, 'request')} left out, for which there was no room`,
  ];
  return html`<div class="row spread">
      <div class="row">
        <h2>Requests</h2>
        <span class="badge ${isActive ? 'bad' : ''}">${isActive ? '● Recording' : '■ Ended'}</span>
        ${recording.all.length > 1 ? chooser() : nothing}
      </div>
      ${
        isActive
          ? needsService(
              html`<button type="button" aria-disabled=${recording.isBusy} @click=${() => act(() => recording.stop())}>Stop recording</button>`,
            )
          : nothing
      }
    </div>
    <div class="row spread">
      <p class="quiet">${facts.name ? html`“<bdi>${facts.name}</bdi>”` : facts.id}, since ${toLocalTime(Date.parse(facts.createdAt), session.nowMs())}: ${counts.filter(Boolean).join('; ')}</p>
      ${tools}
    </div>
    ${session.account?.recording ? nothing : starter('Start another', act)}`;
}

function chooser(): TemplateResult {
  const choose = ({ target }: Event) => recording.choose((target as HTMLSelectElement).value);
  return needsService(
    html`<select aria-label="Recording" @change=${choose}>${recording.all.map(
      ({ id, name, createdAt }) =>
        html`<option value=${id} .selected=${live(id === recording.chosen)}>${plain(name || id)}, ${toLocalTime(Date.parse(createdAt), session.nowMs())}</option>`,
    )}</select>`,
  );
}

function starter(words: string, act: Options['act']): TemplateResult {
  const start = (event: SubmitEvent) => {
    event.preventDefault();
    const name = new FormData(event.target as HTMLFormElement).get('name') as string;
    act(() => recording.start(name.trim() || undefined));
  };
  return html`<form class="row" @submit=${start}>
    <label>Name <input name="name" maxlength="100" placeholder="my client" autocomplete="off" /></label>
    ${needsService(html`<button type="submit" class="primary" aria-disabled=${recording.isBusy}>${words}</button>`)}
  </form>`;
}
