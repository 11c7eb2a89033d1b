import { counted } from '../../foundation/words.ts';
import { needsService } from './panel.ts';
import { plain } from './plain-text.ts';
import { maxRequests, recording } from './recording.ts';
import { session } from './session.ts';
import { html, live, nothing, type TemplateResult } from './template.ts';
import { toLocalTime } from './times.ts';
import type { RecordingFacts } from './types.ts';

/** The shown recording, and the controls that start, end and choose one. `act` performs an action, and shows why it failed. */
export function recordingHead(
  facts: RecordingFacts,
  act: (act: () => Promise<void>) => void,
): TemplateResult {
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
      html`<button type="button" aria-disabled=${recording.isBusy} @click=${() => act(send)}>${words}</button>`,
    );
  return html`<div class="row head">
      <h2>Requests</h2>
      <span class="badge ${isActive ? 'bad' : ''}">${isActive ? '● Recording' : '■ Ended'}</span>
      <p class="quiet">${facts.name ? html`“<bdi>${facts.name}</bdi>”` : facts.id}, since ${toLocalTime(Date.parse(facts.createdAt), session.nowMs())}: ${counts.filter(Boolean).join('; ')}</p>
      ${recording.all.length > 1 ? chooser() : nothing}
      ${isActive ? button('Stop recording', () => recording.stop()) : nothing}
      ${session.account?.recording ? nothing : button('Record again', () => recording.start())}
    </div>`;
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
