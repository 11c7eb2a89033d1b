import type { Static, TObject } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { ignoringFinalStatements } from '../../db/group-commit.ts';
import type { Row, Sql } from '../../db/sql.ts';
import { withoutKeys } from '../../foundation/redact.ts';
import { outsideSpan } from '../../foundation/tracing.ts';
import type { EventDefinition } from './event.ts';

/** An event that waits for its id. `data` and `previous` are JSON. */
interface PendingEvent {
  workspaceId: number;
  type: string;
  atMs: number;
  requestId: string | undefined;
  traceparent: string | undefined;
  data: string;
  previous: string | undefined;
}

/** Enqueues an event for just before the commit. `data`: the resource as GET returns it, after a change or before a removal. */
export function recordEvent<Data extends TObject>(
  sql: Transaction,
  workspaceId: number,
  { type }: EventDefinition<string, Data>,
  data: Static<Data>,
  previous?: object,
): void {
  const { atMs, requestId, traceparent } = sql.context;
  sql.beforeCommit(insertEvents, {
    workspaceId,
    type,
    atMs,
    // A caller may have put its key there.
    requestId: requestId && withoutKeys(requestId),
    traceparent,
    data: JSON.stringify(data),
    previous: previous && JSON.stringify(previous),
  });
}

/** Records an update of a resource if it changed anything. `previous` has the changed fields, with null for an absent one. */
export function recordUpdate<Data extends TObject>(
  sql: Transaction,
  workspaceId: number,
  event: EventDefinition<string, Data>,
  before: Static<Data>,
  after: Static<Data>,
): void {
  const [old, now] = [before as Fields, after as Fields];
  // Resources hold no objects, so their fields can be compared.
  const changed = Object.keys({ ...old, ...now }).filter((name) => old[name] !== now[name]);
  if (changed.length === 0) return;
  const previous = Object.fromEntries(changed.map((name) => [name, old[name] ?? null]));
  recordEvent(sql, workspaceId, event, after, previous);
}

type Fields = Record<string, unknown>;

/** The same transaction without a history, for many changes that share one event. */
export function unrecorded(sql: Transaction): Transaction {
  return Object.assign(ignoringFinalStatements(sql), { beforeCommit: () => {} });
}

/** Inserts events with the next ids, taken last: so without gaps, in the order of commits. None for deleted workspaces. */
async function insertEvents(sql: Sql, events: PendingEvent[]): Promise<void> {
  const byWorkspace = [...Map.groupBy(events, ({ workspaceId }) => workspaceId)];
  // Every transaction uses the same order, so two never wait for each other.
  byWorkspace.sort(([a], [b]) => a - b);
  await Promise.all(
    byWorkspace.flatMap(([workspaceId, own]) => insertWorkspaceEvents(sql, workspaceId, own)),
  );
}

function insertWorkspaceEvents(sql: Sql, workspaceId: number, events: PendingEvent[]): Promise<Row[]>[] {
  const count = events.length;
  return [
    sql`
      insert into sequences (workspace_id, kind, last_id)
      select id, 'events', ${count} from workspaces where id = ${workspaceId}
      on conflict (workspace_id, kind) do update set last_id = sequences.last_id + excluded.last_id`,
    ...events.map(
      ({ type, atMs, requestId, traceparent, data, previous }, i) => sql`
        insert into events (workspace_id, id, type, created_at_ms, request_id, traceparent, data, previous)
        select workspace_id, last_id - ${count - 1 - i}, ${type}, ${atMs}, ${requestId ?? null},
          ${traceparent ?? null}, ${data}, ${previous ?? null}
        from sequences where workspace_id = ${workspaceId} and kind = 'events'`,
    ),
  ];
}

/** Called with a workspace, and with whether its webhooks may have changed. */
type ChangeListener = (workspaceId: number, ofWebhooks: boolean) => void;

/** Notifies listeners in this process that a transaction on a workspace was committed. */
export class ChangeNotifier {
  readonly #listeners = new Set<ChangeListener>();

  /** Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Listeners are called at once and must not throw. */
  notify(workspaceId: number, ofWebhooks = false): void {
    outsideSpan(() => {
      for (const listener of this.#listeners) listener(workspaceId, ofWebhooks);
    });
  }
}
