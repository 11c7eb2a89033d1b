// The ids of the page's requests. They tell people where an event or a ban comes from, and decide nothing.
import { randomId } from '../../client/platform.ts';

/** The start of the ids of all requests of the page. */
export const pagePrefix = 'lab-page-';
const demoPrefix = `${pagePrefix}demo-`;

/** The end of the ids of this tab. It is random, so that no other client can use it. */
const tab = `-${randomId().slice(0, 12)}`;

/** The id of a request that the page sends for itself, and of one of its demos. */
export const pageId = (id: string | null): string => `${pagePrefix}${id}${tab}`;
export const demoId = (id: string): string => `${demoPrefix}${id}${tab}`;

/** Whether this tab sent the request, and for a demo. */
export const isOfPage = (id: string): boolean => id.endsWith(tab);
export const isOfDemo = (id: string): boolean => isOfPage(id) && id.startsWith(demoPrefix);
