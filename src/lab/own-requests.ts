// The lab's page marks its own requests by their `X-Request-Id`.

/** Begins the ids of all requests of the page. */
export const ownRequest = 'lab-page-';
/** Begins the ids of its bursts, which are traffic like that of any client. */
export const burstRequest = `${ownRequest}burst-`;

/** Whether the page sent a request for itself. Such a request says nothing about the client of the key. */
export const isOwn = ({ requestId }: { requestId: string }): boolean =>
  requestId.startsWith(ownRequest) && !requestId.startsWith(burstRequest);
