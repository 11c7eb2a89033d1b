import { counted } from '../../foundation/words.ts';
import { hashOfValue } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { changes, pathsOf, wasRead } from './reads-between.ts';
import { follows, hasDisconnected, isSuccess, isTouchedByAny, isTransient } from './request-facts.ts';
import type { Traffic } from './traffic.ts';

/** The entity tag of `If-Match`; undefined for `*`, which allows any. */
const tagOf = ({ headers }: Recorded) => {
  const tag = headers['if-match'];
  return tag?.trim() === '*' ? undefined : tag;
};

const writes = ['PUT', 'PATCH'];

/** Changes of resources that the client had read: only these can be based on an old state. */
function changesOfRead({ requests, api }: Traffic): Recorded[] {
  const read = new Set<string>();
  const changed: Recorded[] = [];
  for (const request of requests) {
    if (wasRead(request)) for (const path of pathsOf(request, api)) read.add(path);
    else if (writes.includes(request.method) && pathsOf(request, api).some((path) => read.has(path)))
      changed.push(request);
  }
  return changed;
}

export const ifMatchSent: Check = {
  name: 'if-match.sent',
  level: 'recommended',
  needs: 'ETag and If-Match',
  asks: 'A client that reads a resource and then changes it sends the `ETag` as `If-Match`.',
  judged:
    'Looks at PUT and PATCH of a resource that the client has read earlier in the recording, by its URL or, for pets, with `?id=`. Fails: a change without `If-Match`, or with `If-Match: *`, which allows any state. Passes: every change has an `ETag` in `If-Match`. Not judged: DELETE, which overwrites nothing.',
  unseen: 'The client changed no resource that it had read.',
  faults: [],
  advice: 'Save the `ETag` with the resource, and send it as `If-Match` with the change.',
  guide: 'Getting started',
  judge(traffic) {
    const changed = changesOfRead(traffic);
    const bad = changed.filter((change) => tagOf(change) === undefined);
    return {
      bad,
      good: changed,
      failed: `${bad.length} of ${counted(changed.length, 'change')} had no If-Match, although the client had read the resource.`,
      passed: 'Each change of a resource that the client had read had If-Match.',
    };
  },
};

export const updatesNotLost: Check = {
  name: 'updates.not-lost',
  level: 'required',
  needs: 'ETag and If-Match',
  asks: 'A change does not overwrite the change of another writer.',
  judged:
    'Looks at PUT and PATCH as in `if-match.sent` under the fault `conflict`: another writer changed the resource just before. Fails: a PUT that succeeds without an `ETag` in `If-Match`, or a PATCH that succeeds without one and sets the property that the other writer changed. Also fails: after 412, a change that sets this property back to the value from before the other writer, even with a new `ETag`. Passes: a change that gets 412, unless such a change or one without an `ETag` follows. Not judged: a PATCH of other properties, which loses nothing.',
  unseen: 'No other writer changed a resource between a read and a change of the client.',
  faults: ['conflict'],
  advice:
    'Send the `ETag` of your last read as `If-Match` with each change. After 412 apply only your own change to the state that you read again.',
  guide: 'Getting started',
  judge(traffic) {
    const { api } = traffic;
    const changed = changesOfRead(traffic);
    const isTouched = (change: Recorded) => isTouchedByAny(change, ['conflict']);
    const blindly = changed.filter((change) => isSuccess(change) && tagOf(change) === undefined);
    const blind = blindly.filter((change) => isTouched(change) && overwrites(change));
    const undone = undoneBy(traffic);
    const restored = new Set(undone.values());
    const lastBlindMs = new Map(blindly.map((change) => [pathsOf(change, api)[0], change.atMs]));
    /** Whether a later change overwrote the other writer's change. */
    const isUndone = (refused: Recorded) =>
      restored.has(refused) || (lastBlindMs.get(pathsOf(refused, api)[0]) ?? 0) > refused.atMs;
    return {
      bad: [...blind, ...[...undone].flat()],
      good: changed.filter((change) => isTouched(change) && change.status === 412 && !isUndone(change)),
      failed: `${counted(blind.length + undone.size, 'change')} overwrote the change of another writer${detailOf(undone)}.`,
      passed: 'No change of another writer was overwritten.',
    };
  },
};

/** Whether a change that succeeded replaced the value of the other writer in a rehearsal. */
const overwrites = ({ method, otherWriter, values }: Recorded) =>
  method === 'PUT' || (otherWriter && values?.[otherWriter.property] !== undefined);

/** Changes that set a property back to its value from before another writer, with the refused changes that this writer came before. */
function undoneBy({ requests, api }: Traffic): Map<Recorded, Recorded> {
  /** By path, then by replaced value. */
  const refused = new Map<string, Map<string, Recorded>>();
  const undone = new Map<Recorded, Recorded>();
  for (const request of requests.filter(({ method }) => writes.includes(method))) {
    const { status, values = {}, otherWriter } = request;
    const [path = ''] = pathsOf(request, api);
    const replaced = refused.get(path) ?? new Map<string, Recorded>();
    // A value that the client computed anew may be equal by chance. One that it sent before is old.
    const restored = Object.entries(values).flatMap(([name, value]) => {
      const before = replaced.get(`${name} ${value}`);
      return before?.values?.[name] === value ? [before] : [];
    });
    if (isSuccess(request) && restored[0]) undone.set(request, restored[0]);
    if (isSuccess(request)) refused.delete(path);
    if (status !== 412 || !otherWriter) continue;
    const { property, before } = otherWriter;
    refused.set(path, replaced.set(`${property} ${hashOfValue(JSON.parse(before))}`, request));
  }
  return undone;
}

/** How the first such change undid another one. */
function detailOf(undone: ReadonlyMap<Recorded, Recorded>): string {
  const [[change, refused] = []] = undone;
  const { property, before } = refused?.otherWriter ?? {};
  return change
    ? `: request ${change.id} set ${property} back to ${before}, the value before request ${refused?.id} got 412`
    : '';
}

interface ResourceState {
  /** Changes that got 412, by connection, and the last of all. */
  refused: Map<string, Recorded>;
  latest?: Recorded;
  read?: Recorded;
}

/** Returns whether changes used a tag more than once, and more often than responses had it: then one worker used it twice. */
function overusedTags(requests: readonly Recorded[]) {
  // A retry of a temporary failure may use the same tag.
  const isUse = (request: Recorded) =>
    changes.includes(request.method) && !isTransient(request) && !hasDisconnected(request);
  const uses = Map.groupBy(requests.filter(isUse), tagOf);
  const answers = Map.groupBy(requests, ({ answerHeaders }) => answerHeaders.etag);
  return (tag: string | undefined) =>
    tag !== undefined && (uses.get(tag)?.length ?? 0) > Math.max(1, answers.get(tag)?.length ?? 0);
}

export const conflictReadAgain: Check = {
  name: 'conflict.read-again',
  level: 'required',
  needs: 'ETag and If-Match',
  asks: 'After 412 the client reads the resource again before it changes it.',
  judged:
    'Looks at the next change of the resource by the same worker after 412. Fails: no `ETag` in `If-Match`, because the change may undo another one; the refused `ETag` again; or a change as in `updates.not-lost` that undoes the one of the other writer. The same `ETag` again is allowed if the number of changes that used it is at most the number of responses that had it: then several workers may each have read it. Passes: another `ETag`, if the change succeeds, or if the client read the resource between the 412 and this change. Also passes: a read without a later change. Not judged: DELETE after a refused PUT or PATCH, which is a new decision.',
  unseen: 'No change got 412, or the client did not use the resource afterwards.',
  faults: ['conflict'],
  advice: 'After 412 read the resource, decide again, and send the change with the new `ETag`.',
  guide: 'Getting started',
  judge(traffic) {
    const { requests, api, isOfOneWorker, isOfSameWorker, isLast } = traffic;
    const undone = undoneBy(traffic);
    const places = new Map<string, ResourceState>();
    const isOverused = overusedTags(requests);
    const good: Recorded[] = [];
    const bad: Recorded[] = [];
    for (const request of requests) {
      const isChange = changes.includes(request.method);
      if (!isChange && !wasRead(request)) continue;
      for (const path of pathsOf(request, api)) {
        const place: ResourceState = places.get(path) ?? { refused: new Map() };
        if (!isChange) place.read = request;
        else judgeChange(request, place);
        places.set(path, place);
      }
    }
    for (const { refused, read } of places.values())
      for (const refusal of refused.values()) if (read && follows(read, refusal)) good.push(refusal, read);
    return {
      bad,
      good,
      failed: `After 412 the client sent ${counted(bad.length / 2, 'change')} that ${bad.length > 2 ? 'were' : 'was'} not based on the current state${detailOf(undone)}.`,
      passed: 'After 412 the client used the current state.',
    };

    function judgeChange(change: Recorded, place: ResourceState): void {
      const { refused, latest } = place;
      const before = (isOfOneWorker ? undefined : refused.get(change.connection)) ?? latest;
      const tag = tagOf(change);
      if (before && follows(change, before)) {
        const isOwn = isOfSameWorker(change, before);
        const isOther = change.method === 'DELETE' && before.method !== 'DELETE';
        const isBlind = tag === undefined && !isOther;
        const isStale = tag === tagOf(before) && isOverused(tag);
        if (isOwn && (isBlind || isStale || undone.has(change))) bad.push(before, change);
        else if (
          !isBlind &&
          tag !== tagOf(before) &&
          (isSuccess(change) || (place.read && follows(place.read, before)))
        )
          good.push(before, change);
        // The refused change stays open while its own worker still uses the connection.
        if (isOwn || isLast(before)) {
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
