// How the page calls the API and the lab.

import { nextLink } from '../../client/header-fields.ts';
import {
  answerOf,
  createLab,
  createPetstore,
  type Lab,
  type List,
  type Petstore,
  PetstoreError,
} from '../../client/index.ts';
import { labPageHeader, tokenName } from '../lab-page-token.ts';
import { pageId } from './request-ids.ts';
import { keySignal, untilKeyChange } from './state.ts';
import { clockTime, endToSecond } from './times.ts';

/** The service always answers within this time. */
const timeoutMs = 10_000;

/** The API, also below the path of a proxy. */
export const baseUrl = new URL('v1', document.baseURI).href;

/** The faults of the last answers to the page, by request id. */
const faults = new Map<string, string>();
const maxFaults = 100;

/** The service put it into the page. */
const token = document.querySelector(`meta[name="${tokenName}"]`)?.getAttribute('content') ?? '';

/** Marks a request as the page's own, and keeps the fault of its answer. */
async function send(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const requestId = pageId(headers.get('x-request-id'));
  headers.set('x-request-id', requestId);
  headers.set(labPageHeader, token);
  const response = await fetch(url, { ...init, headers });
  const [, fault] = /fault=([\w-]+)/.exec(response.headers.get('petstore-rehearsal') ?? '') ?? [];
  if (fault) faults.set(requestId, fault);
  for (const [oldest] of faults) if (faults.size > maxFaults) faults.delete(oldest);
  return response;
}

/** Clients for a key. A call that would have to wait for more than ten seconds rejects at once. */
export function clientsFor(key: string): { petstore: Petstore; lab: Lab } {
  const signal = keySignal();
  const fetch: typeof send = async (url, init) => {
    // The client may have held it back since the key was forgotten.
    signal.throwIfAborted();
    return send(url, init);
  };
  const options = { baseUrl, apiKey: key, attempts: 1, timeoutMs, fetch };
  return {
    petstore: withoutLateAnswers(createPetstore(options), signal),
    lab: withoutLateAnswers(createLab(options), signal),
  };
}

/** Passes the promises of every method through `untilKeyChange`. */
const withoutLateAnswers = <Client extends object>(client: Client, signal: AbortSignal): Client =>
  new Proxy(client, {
    get:
      (target, name) =>
      (...args: unknown[]) => {
        const answer: unknown = (Reflect.get(target, name) as (...args: unknown[]) => unknown)(...args);
        return answer instanceof Promise ? untilKeyChange(answer, signal) : answer;
      },
  });

/** The beginning of a list, and whether there is more. */
export interface FirstPage<Item> {
  items: Item[];
  hasMore: boolean;
}

/** Reads the first page that has items. An empty page may have a next one. */
export const firstPage = <Item>(list: List<Item>): Promise<FirstPage<Item>> =>
  untilKeyChange(readFirstPage(list));

async function readFirstPage<Item>(list: List<Item>): Promise<FirstPage<Item>> {
  for await (const items of list.pages()) {
    const hasMore = nextLink(answerOf(items)?.headers.get('link')) !== undefined;
    if (items.length > 0) return { items, hasMore };
  }
  return { items: [], hasMore: false };
}

/** Why a call failed, for the user: the message, the fault, whether it may have been done, and the request id of the log. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof PetstoreError)) return String(error);
  const { message, requestId, retryAt, mayBeDone } = error;
  const fault = faults.get(requestId ?? '');
  return [
    // The client names the time in UTC if it did not send the request.
    retryAt ? message.replace(retryAt.toISOString(), clockTime(endToSecond(retryAt.getTime()))) : message,
    fault && `The fault ${fault} is on.`,
    mayBeDone && 'The request may have taken effect.',
    requestId && !message.includes(requestId) && `(request ${requestId})`,
  ]
    .filter(Boolean)
    .join(' ');
}
