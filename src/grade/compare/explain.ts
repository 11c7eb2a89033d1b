import { capitalized, counted } from '../../foundation/words.ts';
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

/** Returns functions that find the requests behind a difference of a run, and say what the service did and what to change. */
export function explainer(fault: Fault, base: Facts, run: Facts) {
  const touched = run.requests.filter((request) => isAffectedBy(fault.name, request));
  // A refusal that also happens without the fault is never the cause.
  const usual = new Set(base.requests.filter(isRefusal).map(refusalOf));
  const isUsual = (request: RecordedRequest) => request.fault === undefined && usual.has(refusalOf(request));
  const committed = new Set(requestsOf(changesIn(run.storeResult), run.requests));
  const serviceDid = (requests: readonly RecordedRequest[]) => {
    const sentences = requests
      // If the response looks normal, the description of the fault says more than the response.
      .filter((request) => isAffectedBy(fault.name, request) && !isSuccess(request))
      .slice(0, maxDescribed)
      .map((request) => serviceSentence(request, committed.has(request)));
    return sentences.length > 0 ? { service: sentences.join(' ') } : {};
  };
  const because = (requests: readonly RecordedRequest[]) => ({
    requests: requests.slice(0, maxRequests).map(({ id }) => id),
    ...serviceDid(requests),
    goodClient: fault.goodClient,
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
    const behind = [all, failed, touched].find(({ length }) => length > 0) ?? [];
    const change = changeFor(kind, behind, fault);
    return { kind, what, ...because(behind), ...(change !== undefined && { change }) };
  };
  const again = readAgain(base.requests, run.requests);
  const unanswered = neverAnswered(base.requests, run.requests).filter((one) => !isUsual(one));
  /** `unread`: the ids of pages whose next page was not read. */
  const ofPrinted = (what: string, namesFailure: boolean, unread: readonly string[] = []): Deviation => {
    const pages = run.requests.filter(({ id }) => unread.includes(id));
    const behind = [pages, unanswered, [...touched, ...again]].find(({ length }) => length > 0) ?? [];
    const [lacking] = unanswered;
    const why =
      behind === pages
        ? `: the page after request ${pages.at(-1)?.id} was not read`
        : lacking && `: ${lacking.method} ${lacking.target} never got a successful response`;
    const change = changeForOutput({ namesFailure, isUnread: pages.length > 0, lacking, again });
    return {
      ...{ kind: namesFailure ? 'reported' : 'printed', what: what + (why ?? ''), ...because(behind) },
      ...(change !== undefined && { change }),
    };
  };
  return {
    ofStore: (differences: readonly Difference[]) => oneForEachCause(differences.map(ofStore)),
    ofPrint: (sentences: readonly string[], namesFailure = false, unread?: readonly string[]) =>
      joined(sentences).map((what) => ofPrinted(what, namesFailure, unread)),
  };
}

const isOfOperation = (one: RecordedRequest) => (other: RecordedRequest) => one.operation === other.operation;

/** The GET requests that the run sent again after a successful response, and more often than the base did. */
function readAgain(base: readonly RecordedRequest[], run: readonly RecordedRequest[]): RecordedRequest[] {
  const left = new Map<string, number>();
  for (const { target } of base.filter(isGet)) left.set(target, (left.get(target) ?? 0) + 1);
  const had = new Set<string>();
  return run.filter((request) => {
    const { target } = request;
    if (!isGet(request) || !isSuccess(request) || isStream(request)) return false;
    const times = (left.get(target) ?? 1) - 1;
    left.set(target, times);
    const isAgain = had.has(target) && times < 0;
    had.add(target);
    return isAgain;
  });
}

const isGet = ({ method }: RecordedRequest) => method === 'GET';

const isStream = ({ answerHeaders }: RecordedRequest) =>
  answerHeaders['content-type']?.startsWith('text/event-stream') ?? false;

/** The requests that failed, are not sent again with success, and succeed without the fault. */
function neverAnswered(base: readonly RecordedRequest[], run: readonly RecordedRequest[]): RecordedRequest[] {
  const nameOf = ({ method, target }: RecordedRequest) => `${method} ${target}`;
  const succeeded = new Set(run.filter(isSuccess).map(nameOf));
  const works = new Set(base.filter(isSuccess).map(({ operation }) => operation));
  return run.filter(
    (one) => !isSuccess(one) && !isStream(one) && !succeeded.has(nameOf(one)) && works.has(one.operation),
  );
}

interface OutputCause {
  namesFailure: boolean;
  isUnread: boolean;
  lacking: RecordedRequest | undefined;
  again: readonly RecordedRequest[];
}

/** What to change in a program that exits with 0 and prints something else. */
function changeForOutput({ namesFailure, isUnread, lacking, again }: OutputCause): string | undefined {
  if (namesFailure) return 'Exit with a status other than 0 if the result is not complete.';
  if (isUnread) return 'Follow `rel="next"` until a page has none.';
  if (lacking && isRedirect(lacking)) return followRedirect;
  if (lacking)
    return `Do not print a result without the response to #${lacking.id}: send it again, or exit with a status other than 0.`;
  return again.length > 0 ? changeForReadAgain(again) : undefined;
}

const changeForReadAgain = (again: readonly RecordedRequest[]) =>
  `Retry only the failed request, or discard earlier results before you start over: the program repeated ${counted(again.length, 'request')} that had already succeeded (#${again[0]?.id}).`;

/** How many sentences of deviations with one cause are joined. */
const maxJoined = 3;

/** Joins deviations of one kind that have the same requests behind them. */
function oneForEachCause(deviations: readonly Deviation[]): Deviation[] {
  const byCause = Map.groupBy(deviations, ({ kind, requests }) => `${kind} ${requests.join(' ')}`);
  return [...byCause.values()].map((same) => {
    const [what = ''] = joined(same.map(({ what }) => what));
    return { ...(same[0] as Deviation), what };
  });
}

/** The first sentences as one, if there are any. */
function joined(sentences: readonly string[]): string[] {
  const rest = sentences.length - maxJoined;
  const more = rest > 0 ? [`and ${counted(rest, 'more difference')}`] : [];
  return sentences.length > 0 ? [[...sentences.slice(0, maxJoined), ...more].join('; ')] : [];
}

/** A redirect is no success: who does not follow it has no result. */
const isSuccess = ({ status = 0, fault }: RecordedRequest) =>
  (status === 304 || (status >= 200 && status < 300)) &&
  !fault?.split(' ').some((name) => connectionFaults.includes(name));

/** Whether a retry of the request would be refused, too. */
const isRefusal = ({ status = 0 }: RecordedRequest) => status >= 400 && status < 500 && status !== 429;

const followRedirect =
  'Follow the redirect: send the same request to `Location`, with the same method, body and headers.';
const isRedirect = ({ status = 0 }: RecordedRequest) => status >= 300 && status < 400 && status !== 304;

const changesIn = ({ histories }: StoreResult): StoreChange[] =>
  [...histories.values()].flatMap(({ created, deleted, writes }) => [
    ...[created, deleted].filter((change) => change !== undefined),
    ...writes.map(({ change }) => change),
  ]);

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
  const { name, group, shortensPages } = fault;
  if (name === samePage.name)
    return 'Stop if a link leads to a page that you have already read. Otherwise you get its items twice.';
  if (shortensPages) return 'Follow `rel="next"` until a page has none.';
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
