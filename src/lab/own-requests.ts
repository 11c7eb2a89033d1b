// Which requests the lab's page sends itself, as the page and the service tell by their `X-Request-Id`.

/** How the page begins the ids of its requests. */
export const ownRequest = 'lab-page-';
/** Of a burst. These are traffic like that of any client. */
export const burstRequest = `${ownRequest}burst-`;

/** Whether the page sent a request to show the store or to change it, so that it tells nothing about the client of the key. */
export const isOwn = ({ requestId }: { requestId: string }): boolean =>
  requestId.startsWith(ownRequest) && !requestId.startsWith(burstRequest);
