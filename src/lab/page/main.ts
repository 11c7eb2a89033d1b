import { currentKey, onKeyChange } from '../../access/keys/browser-key.ts';
import { type ConnectionState, pageTitleOf } from './account.ts';
import { AccountPanel } from './account-panel.ts';
import { Actions } from './actions.ts';
import { BanDemo } from './ban-demo.ts';
import { ConnectionPanel } from './connection.ts';
import { EventsPanel } from './events.ts';
import { FaultCountPanel, FaultsPanel } from './faults.ts';
import { LimitsPanel } from './limits.ts';
import { OrderDemo } from './order-demo.ts';
import type { KeyContext, Panel } from './panel.ts';
import { RecordingState } from './recording.ts';
import { RehearsalState } from './rehearsal.ts';
import { ReportPanel } from './report.ts';
import { RequestsPanel } from './requests.ts';
import { Session } from './session.ts';
import { StorePanel } from './store.ts';
import { StoreCache } from './store-cache.ts';
import { Stream } from './stream.ts';
import { WebhooksPanel } from './webhooks.ts';
import './navigation.ts';

type PanelOf = new (element: HTMLElement, context: KeyContext) => Panel;

/** The panels by their elements in index.html, with what they follow besides the session. */
const panels: Readonly<Record<string, readonly [PanelOf, ...(keyof KeyContext)[]]>> = {
  'lab-connection': [ConnectionPanel],
  'lab-account': [AccountPanel],
  'lab-limits': [LimitsPanel, 'recording'],
  'lab-requests': [RequestsPanel],
  'lab-report': [ReportPanel],
  'lab-faults': [FaultsPanel],
  'lab-fault-count': [FaultCountPanel, 'rehearsal'],
  'lab-events': [EventsPanel, 'stream'],
  'lab-webhooks': [WebhooksPanel],
  'lab-store': [StorePanel],
  'lab-ban-demo': [BanDemo, 'recording'],
  'lab-order-demo': [OrderDemo, 'recording'],
};

let ended = new AbortController();

/** Begins with a key or none, and drops all that belongs to the key before. */
function use(key: string, connection: ConnectionState = key ? 'connecting' : 'no-key'): void {
  ended.abort();
  ended = new AbortController();
  const { signal } = ended;
  const session = new Session(key, connection, signal, use);
  const rehearsal = new RehearsalState(session);
  const stream = new Stream(session, rehearsal);
  const actions = new Actions(session);
  const storeCache = new StoreCache(session, stream, actions);
  const context = { session, rehearsal, stream, actions, storeCache, recording: new RecordingState(session) };
  for (const [name, [PanelOf, ...followed]] of Object.entries(panels)) {
    const panel = new PanelOf(document.querySelector(name) as HTMLElement, context);
    for (const state of ['session', ...followed] as const) context[state].onChange(() => panel.draw());
    void panel.draw();
  }
  const showTitle = () => {
    const title = pageTitleOf(session, document.hidden);
    if (document.title !== title) document.title = title;
  };
  session.onChange(showTitle);
  document.addEventListener('visibilitychange', showTitle, { signal });
  showTitle();
}

onKeyChange(use);
use(currentKey());
