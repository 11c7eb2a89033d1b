import { currentKey, onKeyChange } from '../../access/keys/tab-key.ts';
import { type ConnectionState, titleOf } from './account.ts';
import { Actions } from './actions.ts';
import { BanDemo } from './ban-demo.ts';
import { Connection } from './connection.ts';
import { Events } from './events.ts';
import { FaultCount, Faults } from './faults.ts';
import { Limits } from './limits.ts';
import { OrderDemo } from './order-demo.ts';
import type { KeyContext, Panel } from './panel.ts';
import { Recording } from './recording.ts';
import { Rehearsal } from './rehearsal.ts';
import { Report } from './report.ts';
import { Requests } from './requests.ts';
import { Session } from './session.ts';
import { Store } from './store.ts';
import { StoreCache } from './store-cache.ts';
import { Stream } from './stream.ts';
import { Webhooks } from './webhooks.ts';
import './navigation.ts';

type PanelOf = new (element: HTMLElement, context: KeyContext) => Panel;

/** The panels by their elements in index.html, with what they follow besides the session. */
const panels: Readonly<Record<string, readonly [PanelOf, ...(keyof KeyContext)[]]>> = {
  'lab-connection': [Connection],
  'lab-limits': [Limits, 'recording'],
  'lab-requests': [Requests],
  'lab-report': [Report],
  'lab-faults': [Faults],
  'lab-fault-count': [FaultCount, 'rehearsal'],
  'lab-events': [Events, 'stream'],
  'lab-webhooks': [Webhooks],
  'lab-store': [Store],
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
  const rehearsal = new Rehearsal(session);
  const stream = new Stream(session, rehearsal);
  const actions = new Actions(session);
  const storeCache = new StoreCache(session, stream, actions);
  const context = { session, rehearsal, stream, actions, storeCache, recording: new Recording(session) };
  for (const [name, [PanelOf, ...followed]] of Object.entries(panels)) {
    const panel = new PanelOf(document.querySelector(name) as HTMLElement, context);
    for (const state of ['session', ...followed] as const) context[state].onChange(() => panel.draw());
    void panel.draw();
  }
  const showTitle = () => {
    const title = titleOf(session, document.hidden);
    if (document.title !== title) document.title = title;
  };
  session.onChange(showTitle);
  document.addEventListener('visibilitychange', showTitle, { signal });
  showTitle();
}

onKeyChange(use);
use(currentKey());
