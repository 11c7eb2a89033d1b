import { operations } from '../../../operations.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { writtenProperty } from '../../rehearsals/faults/other-writer.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { connectionUse } from './connection-use.ts';
import { inTurns } from './in-turns.ts';
import { follows, isLeft, isSuccess, isTouchedByAny, isTransient } from './outcomes.ts';

/** Lists that answer with one resource and its entity tag when asked for one id. */
const singles = new Map(
  operations.flatMap(({ id, success }) => (success.singleBy ? [[id, success.singleBy] as const] : [])),
);

/** The paths of the resources that a request is about. */
function pathsOf({ target, operation = '' }: Recorded): string[] {
  const [path = '', query = ''] = target.split('?');
  const singleBy = singles.get(operation);
  return singleBy === undefined
    ? [path]
    : new URLSearchParams(query).getAll(singleBy).map((id) => `${path}/${id}`);
}

const isRead = (request: Recorded) =>
  (request.method === 'GET' || request.method === 'HEAD') && isSuccess(request);

/** The entity tags that a change goes by; `*` allows any. */
const tagOf = ({ headers }: Recorded) => {
  const tag = headers['if-match'];
  return tag?.trim() === '*' ? undefined : tag;
};

const writes = ['PUT', 'PATCH'];
const changes = [...writes, 'DELETE'];

/** Changes of what the client had read before: only those go by something that could be old. */
async function changesOfRead(requests: readonly Recorded[]): Promise<Recorded[]> {
  const read = new Set<string>();
  const changed: Recorded[] = [];
  for await (const request of inTurns(requests)) {
    if (isRead(request)) for (const path of pathsOf(request)) read.add(path);
    else if (writes.includes(request.method) && pathsOf(request).some((path) => read.has(path)))
      changed.push(request);
  }
  return changed;
}

export const ifMatchSent: Check = {
  name: 'if-match.sent',
  level: 'recommended',
  asks: 'A client that has read a resource and then changes it sends `If-Match` with the `ETag` that it got.',
  judged:
    'Judged are PUT and PATCH of what the client has read before in the recording, by its address or, of pets, by `?id=`. All of them must carry `If-Match` with a tag; `*` protects nothing. A change of what was never read goes by nothing that could be old, and a removal overwrites nothing.',
  unseen: 'Nothing was changed that had been read.',
  faults: [],
  advice: 'Keep the `ETag` beside what you read, and send it as `If-Match` with the change.',
  guide: 'Getting started',
  async judge(requests) {
    const changed = await changesOfRead(requests);
    if (changed.length === 0) return notObserved('Nothing was changed that had been read before.');
    const bad = changed.filter((change) => tagOf(change) === undefined);
    return bad.length > 0
      ? failed(
          bad,
          `${counted(bad.length, 'change')} of ${changed.length} of what had been read came without If-Match.`,
        )
      : passed(changed, 'Each change of what had been read carried If-Match.');
  },
};

export const updatesNotLost: Check = {
  name: 'updates.not-lost',
  level: 'required',
  asks: 'A change does not overwrite what another writer has changed meanwhile.',
  judged:
    'Judged are changes of what the client has read before in the recording, as in `if-match.sent`, that `conflict` touched: right before them another writer had changed the same resource. A PUT fails it that succeeded all the same, without `If-Match` or with `*`, and so does a PATCH of the very property that the other had written: its value is lost, for certain. To be answered 412 passes. A PATCH of other properties keeps what the other wrote, a removal overwrites nothing, and what was never read may be set to what somebody counted.',
  unseen: 'No change of what had been read met that of another writer.',
  faults: ['conflict'],
  advice:
    'Send the `ETag` of what you have read as `If-Match` with each change; after 412 read again and decide again.',
  guide: 'Getting started',
  async judge(requests) {
    const changed = await changesOfRead(requests);
    const touched = changed.filter((change) => isTouchedByAny(change, ['conflict']));
    const bad = touched.filter(
      (request) => isSuccess(request) && tagOf(request) === undefined && overwrites(request),
    );
    const good = touched.filter(({ status }) => status === 412);
    if (bad.length > 0)
      return failed(
        bad,
        `${counted(bad.length, 'change')} overwrote what another writer had changed right before.`,
      );
    return good.length > 0
      ? passed(good, 'Nothing was overwritten that another writer had changed.')
      : notObserved('No change of what had been read met that of another writer.');
  },
};

/** Whether a change that succeeded replaced what the other writer of a rehearsal had written. */
function overwrites({ method, operation = '', properties = [] }: Recorded): boolean {
  if (method === 'PUT') return true;
  const property = writtenBy.get(operation);
  return property !== undefined && properties.includes(property);
}

/** Which property the other writer of a rehearsal writes, by the operation that it comes before. */
const writtenBy = new Map(
  operations.flatMap(({ id, path }) =>
    path in writtenProperty ? [[id, writtenProperty[path]] as const] : [],
  ),
);

/** What happened to one resource. */
interface Place {
  /** Changes that got 412, by the connection that they came on, and the last of all. */
  refused: Map<string, Recorded>;
  latest?: Recorded;
  read?: Recorded;
}

/** Which entity tags answers have told, and which changes went by. */
class Tags {
  readonly #told = new Map<string, number>();
  readonly #used = new Map<string, number>();

  note(request: Recorded): void {
    count(this.#told, request.answer.etag);
    // What failed for a time may come again as it was.
    if (changes.includes(request.method) && !isTransient(request) && !isLeft(request))
      count(this.#used, tagOf(request));
  }

  /** Whether it was used more often than told, once at least: so somebody used it twice. */
  isWornOut = (tag = '') => (this.#used.get(tag) ?? 0) > Math.max(1, this.#told.get(tag) ?? 0);
}

function count(counts: Map<string, number>, tag: string | undefined): void {
  if (tag !== undefined) counts.set(tag, (counts.get(tag) ?? 0) + 1);
}

export const conflictReadAgain: Check = {
  name: 'conflict.read-again',
  level: 'required',
  asks: 'After 412 the client reads the resource again before it changes it.',
  judged:
    'After a 412 a change of the same resource by the same worker fails it without `If-Match`, or with `*`: that undoes what another writer did. So does the refused tag once more, if more changes were sent with it than answers had told it: workers may have read the same, each for itself. A removal after a refused change is another decision, and not judged. A change with another tag that succeeds goes by what is there now, whoever read it. To read again and to give up then passes, too.',
  unseen: 'No change got 412, or nothing was done with the resource afterwards.',
  faults: ['conflict'],
  advice:
    'After 412 get the resource, decide again by what it is now, and send the change with its new `ETag`.',
  guide: 'Getting started',
  async judge(requests) {
    const use = connectionUse(requests);
    const places = new Map<string, Place>();
    const tags = new Tags();
    const good: Recorded[] = [];
    const bad: Recorded[] = [];
    for await (const request of inTurns(requests)) {
      tags.note(request);
      const isChange = changes.includes(request.method);
      if (!isChange && !isRead(request)) continue;
      for (const path of pathsOf(request)) {
        const place: Place = places.get(path) ?? { refused: new Map() };
        if (!isChange) place.read = request;
        else judgeChange(request, place);
        places.set(path, place);
      }
    }
    for (const { refused, read } of places.values())
      for (const refusal of refused.values()) if (read && follows(read, refusal)) good.push(refusal, read);
    if (bad.length > 0)
      return failed(
        bad,
        `${counted(bad.length / 2, 'change')} came after 412 without a decision by what is there now.`,
      );
    return good.length > 0
      ? passed(good, 'After 412 the client went by what is there now.')
      : notObserved('No change got 412, or nothing was done about it.');

    function judgeChange(change: Recorded, place: Place): void {
      const { refused, latest } = place;
      const own = refused.get(change.connection);
      const before = own ?? latest;
      const tag = tagOf(change);
      if (before && follows(change, before)) {
        const isOwn = use.isOfSameWorker(change, before);
        const isOther = change.method === 'DELETE' && before.method !== 'DELETE';
        const isBlind = tag === undefined && !isOther;
        if (isOwn && (isBlind || (tag === tagOf(before) && tags.isWornOut(tag)))) bad.push(before, change);
        else if (
          !isBlind &&
          tag !== tagOf(before) &&
          (isSuccess(change) || (place.read && follows(place.read, before)))
        )
          good.push(before, change);
        // What another worker does says nothing about the one that was refused, while that has its connection.
        if (isOwn || use.isLast(before)) {
          refused.delete(before.connection);
          if (place.latest === before) delete place.latest;
        }
      }
      if (change.status !== 412) return;
      refused.set(change.connection, change);
      place.latest = change;
    }
  },
};
