import { aliasedTarget } from '../../http/target.ts';
import { fault } from './shared/fault.ts';
import { isUnmoved, otherOriginOf, redirect, redirectStatus } from './shared/redirect.ts';

/** The other origin is this service under its other loopback name. The path is a link that needs no key, so it always responds. */
export const movedAway = fault({
  name: 'moved-away',
  parameters: { status: redirectStatus },
  redirects: true,
  canTouch: (request, services) => isUnmoved(request) && otherOriginOf(request, services) !== undefined,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Redirects to another origin without processing the request. Both origins are this service: one URL has its loopback host name, the other its loopback address. The redirect URL accepts this one request without a key, for a minute. Requests with another host name or through a proxy are not affected.',
  goodClient: 'Sends the same request there, but without its key.',
  whyItMatters:
    'Clients send the key to any redirect target, whose owner can then use it. Most libraries forward custom headers, such as `X-API-Key`.',
  perform: ({ request, reply, rehearsalId, parameters, services }) => {
    const place = services.openLinks.open(request, 'moved-away', rehearsalId);
    const origin = otherOriginOf(request, services) as string;
    redirect(reply, parameters.status, origin + aliasedTarget(place, request.raw.url as string));
  },
});
