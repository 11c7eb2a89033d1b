import { operations } from '../../../operations.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { follows, isSuccess } from './attempts.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';

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
  judge(requests) {
    const read = new Set<string>();
    const changed: Recorded[] = [];
    for (const request of requests) {
      const paths = pathsOf(request);
      if (isRead(request)) for (const path of paths) read.add(path);
      else if (writes.includes(request.method) && paths.some((path) => read.has(path))) changed.push(request);
    }
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

export const conflictReadAgain: Check = {
  name: 'conflict.read-again',
  level: 'required',
  asks: 'After 412 the client reads the resource again before it changes it.',
  judged:
    'The next change of the same resource after a 412 must come after a GET of it, and carry `If-Match` with another value than the one that was refused. A change before that, without `If-Match`, or with `*`, undoes what another writer did. To read again and to give up then passes, too.',
  unseen: 'No change got 412, or nothing was done with the resource afterwards.',
  faults: ['conflict'],
  advice:
    'After 412 get the resource, decide again by what it is now, and send the change with its new `ETag`.',
  guide: 'Getting started',
  judge(requests) {
    const good: Recorded[] = [];
    const bad: Recorded[] = [];
    const refusals = new Map<string, { refused: Recorded; read?: Recorded }>();
    for (const request of requests) {
      for (const path of pathsOf(request)) {
        const open = refusals.get(path);
        if (open && follows(request, open.refused)) {
          if (isRead(request)) open.read = request;
          else if (changes.includes(request.method)) {
            (isNewDecision(request, open) ? good : bad).push(open.refused, request);
            refusals.delete(path);
          }
        }
        if (request.status === 412 && changes.includes(request.method) && !refusals.has(path))
          refusals.set(path, { refused: request });
      }
    }
    for (const { refused, read } of refusals.values()) if (read) good.push(refused, read);
    if (bad.length > 0)
      return failed(
        bad,
        `${counted(bad.length / 2, 'change')} came after 412 without a decision by what is there now.`,
      );
    return good.length > 0
      ? passed(good, 'After 412 the resource was read again.')
      : notObserved('No change got 412, or nothing was done about it.');
  },
};

/** Whether a change goes by what was read after its refusal. */
function isNewDecision(change: Recorded, { refused, read }: { refused: Recorded; read?: Recorded }): boolean {
  const tag = tagOf(change);
  return read !== undefined && follows(change, read) && tag !== undefined && tag !== tagOf(refused);
}
