// How the page calls the API and the lab.

import { type Accounts, accountsTargets } from '../../client/accounts-operations.ts';
import { answerOf } from '../../client/answers.ts';
import { connectTo } from '../../client/connect.ts';
import { PetstoreError } from '../../client/error.ts';
import type { Lab, Operations } from '../../client/index.ts';
import { labTargets } from '../../client/lab-operations.ts';
import { type List, nextLink } from '../../client/list.ts';
import { targets } from '../../client/operations.ts';
import { randomId } from '../../client/platform.ts';
import { labPageHeader, tokenName } from '../lab-page-token.ts';
import { clockTime, endToSecond } from './times.ts';

/** The service always answers within this time. */
const timeoutMs = 10_000;

/** The API, also below the path of a proxy. */
export const apiUrl = new URL('v1', document.baseURI).href;

/** The start of the ids of all requests of the page. */
export const pagePrefix = 'lab-page-';
const demoPrefix = `${pagePrefix}demo-`;

/** The end of the ids of this tab. It is random, so that no other client can use it. */
const tab = `-${randomId().slice(0, 12)}`;

/** The id of a request of a demo. */
export const demoId = (id: string): string => `${demoPrefix}${id}${tab}`;

/** Whether this tab sent the request, and for a demo. They tell people where an event or a ban comes from, and decide nothing. */
export const isOfPage = (id: string): boolean => id.endsWith(tab);
export const isOfDemo = (id: string): boolean => isOfPage(id) && id.startsWith(demoPrefix);

/** The faults of the last answers to the page, by request id. */
const faults = new Map<string, string>();
const maxFaults = 100;

/** The service put it into the page. */
const token = document.querySelector(`meta[name="${tokenName}"]`)?.getAttribute('content') ?? '';

/** Marks a request as the page's own, and keeps the fault of its answer. */
async function send(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const requestId = `${pagePrefix}${headers.get('x-request-id')}${tab}`;
  headers.set('x-request-id', requestId);
  headers.set(labPageHeader, token);
  const response = await fetch(url, { ...init, headers });
  const [, fault] = /fault=([\w-]+)/.exec(response.headers.get('petstore-rehearsal') ?? '') ?? [];
  if (fault) faults.set(requestId, fault);
  for (const [oldest] of faults) if (faults.size > maxFaults) faults.delete(oldest);
  return response;
}

/** All clients of a key. */
export interface Clients {
  petstore: Operations;
  lab: Lab;
  accounts: Accounts;
}

/** The clients of a key. A call that must wait for over ten seconds rejects at once. After `ended`, all calls reject unsent. */
export function operationsFor(key: string, ended: AbortSignal): Clients {
  const fetch: typeof send = async (url, init) => {
    ended.throwIfAborted();
    const response = await send(url, init);
    ended.throwIfAborted();
    return response;
  };
  const options = { baseUrl: apiUrl, apiKey: key, attempts: 1, timeoutMs, fetch };
  const root = new URL('.', document.baseURI).href.replace(/\/$/, '');
  return {
    petstore: connectTo<Operations>(options, apiUrl, targets),
    lab: connectTo<Lab>(options, `${root}/lab`, labTargets),
    accounts: connectTo<Accounts>(options, root, accountsTargets),
  };
}

/** The beginning of a list, and whether there is more. */
export interface FirstPage<Item> {
  items: Item[];
  hasMore: boolean;
}

/** Reads the first page that has items. An empty page may have a next one. */
export async function firstPage<Item>(list: List<Item>): Promise<FirstPage<Item>> {
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
