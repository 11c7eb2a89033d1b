import { capitalized, firstOf } from '../../foundation/words.ts';
import { refusalOf } from '../../lab/checks/expected.ts';
import { streamsResumed } from '../../lab/checks/streams.ts';
import { connectionFaults } from '../../lab/faults/list.ts';
import { samePage } from '../../lab/faults/same-page.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { type Deviation, isAffectedBy } from '../grade.ts';
import type { Difference } from './compare.ts';
import type { StoreChange, StoreResult } from './store-result.ts';

/** The parts of a run in which causes are searched. */
interface Facts {
  requests: readonly RecordedRequest[];
  storeResult: StoreResult;
}

/** The maximum number of requests that a deviation names, and of those that its sentence about the service describes. */
const [maxRequests, maxDescribed] = [10, 3];

/**
 * Returns functions that find the requests behind a difference of a run, and say what the service did and what to change. `unread`: the ids
 * of pages whose next page was not read.
 */
export function explainer(fault: Fault | undefined, base: Facts, run: Facts, unread: readonly string[]) {
  const touched = run.requests.filter((request) => fault && isAffectedBy(fault.name, request));
  // A refusal that also happens without the fault is never the cause.
  const usual = new Set(base.requests.filter(isRefusal).map(refusalOf));
  const isUsual = (request: RecordedRequest) => request.fault === undefined && usual.has(refusalOf(request));
  const committed = new Set(committedIn(run));
  const pages = run.requests.filter(({ id }) => unread.includes(id));
  const unreadNote = pages.length > 0 ? `: the page after request ${pages.at(-1)?.id} was not read` : '';
  const serviceDid = (requests: readonly RecordedRequest[]) => {
    const sentences = requests
      // If the response looks normal, the description of the fault says more than the response.
      .filter((request) => touched.includes(request) && !isSuccess(request))
      .slice(0, maxDescribed)
      .map((request) => serviceSentence(request, committed.has(request)));
    return sentences.length > 0 ? { service: sentences.join(' ') } : {};
  };
  const because = (requests: readonly RecordedRequest[], change: string | undefined) => ({
    requests: requests.slice(0, maxRequests).map(({ id }) => id),
    ...serviceDid(requests),
    ...(change !== undefined && { change }),
  });
  const ofStore = ({ kind, what, changes, missing }: Difference): Deviation => {
    const made = requestsOf(changes, run.requests);
    // An attempt that looked like a failure may have been the first of two.
    const hidden = touched.filter((one) => committed.has(one) && made.some(isOfOperation(one)));
    const lacking = requestsOf(missing, base.requests);
    const failed = run.requests.filter(
      (one) => !isSuccess(one) && !isUsual(one) && lacking.some(isOfOperation(one)),
    );
    const all = kind === 'twice' ? run.requests.filter((one) => [...made, ...hidden].includes(one)) : made;
    const behind = firstFound(pages, all, failed, touched);
    const change = behind === pages ? followNext : fault && changeFor(kind, behind, fault);
    return { kind, what, ...because(behind, change) };
  };
  const ofPrint = (sentences: readonly string[], namesFailure: boolean): Deviation[] => {
    const unanswered = neverAnswered(base.requests, run.requests).filter((one) => !isUsual(one));
    const [lacking] = unanswered;
    const note = lacking ? `: ${lacking.method} ${lacking.target} never got a successful response` : '';
    const change = namesFailure
      ? 'Exit with a status other than 0 if the result is not complete.'
      : (unreadNote && followNext) || (lacking && withoutResponse(lacking));
    const what = joined(sentences) + (unreadNote || note);
    const kind = namesFailure ? 'reported' : 'printed';
    return sentences.length > 0
      ? [{ kind, what, ...because(firstFound(pages, unanswered, touched), change) }]
      : [];
  };
  return {
    ofStore: (differences: readonly Difference[]) =>
      oneForEachCause(differences.map(ofStore)).map((one) => ({ ...one, what: one.what + unreadNote })),
    ofPrint,
  };
}

const firstFound = (...causes: RecordedRequest[][]) => causes.find(({ length }) => length > 0) ?? [];

const isOfOperation = (one: RecordedRequest) => (other: RecordedRequest) => one.operation === other.operation;

const isStream = ({ answerHeaders }: RecordedRequest) =>
  answerHeaders['content-type']?.startsWith('text/event-stream') ?? false;

/** The requests that failed, are not sent again with success, and succeed without the fault. */
export function neverAnswered(base: readonly RecordedRequest[], run: readonly RecordedRequest[]) {
  const nameOf = ({ method, target }: RecordedRequest) => `${method} ${target}`;
  const succeeded = new Set(run.filter(isSuccess).map(nameOf));
  const works = new Set(base.filter(isSuccess).map(({ operation }) => operation));
  return run.filter(
    (one) => !isSuccess(one) && !isStream(one) && !succeeded.has(nameOf(one)) && works.has(one.operation),
  );
}

const withoutResponse = (lacking: RecordedRequest) =>
  isRedirect(lacking)
    ? followRedirect
    : `Do not print a result without the response to #${lacking.id}: send it again, or exit with a status other than 0.`;

/** Joins deviations of one kind that have the same requests behind them. */
function oneForEachCause(deviations: readonly Deviation[]): Deviation[] {
  const byCause = Map.groupBy(deviations, ({ kind, requests }) => `${kind} ${requests.join(' ')}`);
  return [...byCause.values()].map((same) => {
    return { ...(same[0] as Deviation), what: joined(same.map(({ what }) => what)) };
  });
}

/** The first sentences as one. */
const joined = (sentences: readonly string[]) => firstOf(sentences, 3, 'difference').join('; ');

/** A redirect is no success: who does not follow it has no result. */
const isSuccess = ({ status = 0, fault }: RecordedRequest) =>
  (status === 304 || (status >= 200 && status < 300)) &&
  !fault?.split(' ').some((name) => connectionFaults.includes(name));

/** Whether a retry of the request would be refused, too. */
const isRefusal = ({ status = 0 }: RecordedRequest) => status >= 400 && status < 500 && status !== 429;

const followRedirect =
  'Follow the redirect: send the same request to `Location`, with the same method, body and headers.';
const followNext = 'Follow `rel="next"` until a page has none.';
const isRedirect = ({ status = 0 }: RecordedRequest) => status >= 300 && status < 400 && status !== 304;

const changesIn = ({ histories }: StoreResult): StoreChange[] =>
  [...histories.values()].flatMap(({ created, deleted, writes }) => [
    ...[created, deleted].filter((change) => change !== undefined),
    ...writes.map(({ change }) => change),
  ]);

/** The requests that made the changes of a run. */
export const committedIn = ({ storeResult, requests }: Facts) => requestsOf(changesIn(storeResult), requests);

/** The requests that made changes, oldest first. Of attempts with one id, the last that began before the change. */
function requestsOf(changes: readonly StoreChange[], requests: readonly RecordedRequest[]) {
  const byId = Map.groupBy(requests, ({ requestId }) => requestId);
  const made = changes.map(({ requestId = '', atMs }) => {
    const attempts = byId.get(requestId) ?? [];
    return attempts.findLast(({ at }) => Date.parse(at) <= atMs) ?? attempts[0];
  });
  return requests.filter((request) => made.includes(request));
}

function serviceSentence(request: RecordedRequest, isCommitted: boolean): string {
  const { id, status, left } = request;
  const isCutShort = status !== undefined && status < 400 && !isSuccess(request);
  const end = left
    ? 'sent no complete response until the client disconnected'
    : status === undefined
      ? 'cut the connection'
      : `responded with ${isCutShort ? 'an incomplete ' : ''}${status}`;
  return isCommitted ? `Committed request ${id}, then ${end}.` : `${capitalized(end)} (request ${id}).`;
}

/** What to change in a client that did not survive a fault of streams. */
export const changeForStream = ({ name }: Pick<Fault, 'name'>): string =>
  streamsResumed.faults.includes(name)
    ? streamsResumed.advice
    : 'Read the stream with a parser for Server-Sent Events. It joins pieces and lines of `data`, and knows all line ends.';

/** What to change in the client, if that is clear. */
function changeFor(
  kind: Difference['kind'],
  behind: readonly RecordedRequest[],
  fault: Fault,
): string | undefined {
  const { name, group } = fault;
  if (name === samePage.name)
    return 'Stop if a link leads to a page that you have already read. Otherwise you get its items twice.';
  if (group === 'Streams') return changeForStream(fault);
  if (kind === 'undone' && behind.some(isRedirect)) return followRedirect;
  const refused = behind.find((request) => isRefusal(request) && request.fault === undefined);
  if (kind === 'undone' && refused)
    return `Do not treat the refusal of #${refused.id} (${refused.status} ${refused.code ?? ''}) as success. Keep the order of the steps, or exit with a status other than 0.`;
  if (kind === 'undone' && !behind.every(isSuccess))
    return 'Retry until the request succeeds, or exit with a status other than 0.';
  if (kind !== 'twice') return undefined;
  const posts = behind.filter(({ method }) => method === 'POST');
  if (posts.length === 0)
    return 'Read the resource again after a lost response or 412. If your change is already there, do not repeat it.';
  return posts.some(({ headers }) => headers['idempotency-key'] === undefined)
    ? 'Send an `Idempotency-Key` with each POST, and the same key with each retry.'
    : 'Create the `Idempotency-Key` before the first attempt, and send the same key with each retry.';
}
