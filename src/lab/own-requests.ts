// The lab's page marks its own requests by their `X-Request-Id`.

/** The prefix of the ids of all requests of the page. */
export const ownRequest = 'lab-page-';
/** The prefix of the ids of its bursts, which count as traffic of a client. */
export const burstRequest = `${ownRequest}burst-`;

/** Whether the page sent a request for itself. Such a request is not judged. */
export const isOwn = ({ requestId }: { requestId: string }): boolean =>
  requestId.startsWith(ownRequest) && !requestId.startsWith(burstRequest);
