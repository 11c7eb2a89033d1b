import { movedTarget } from '../../http/moved.ts';
import { fault } from './shared/fault.ts';
import { isUnmoved, otherOriginOf, redirect, redirectStatus } from './shared/redirect.ts';

/**
 * The other origin is the same service under the other name of the loopback address. Its path is a link that needs no key, so a good
 * client, which leaves its key behind, gets its answer, and one that forwards it gets the same.
 *
 * A recording has both requests, with this fault and the same target. The redirect has the status 307 or 308. The other one followed
 * it, and its `host` names the origin. If that is not the `host` of the redirect, and `authorization` or `x-api-key` is among its header
 * fields, the key was forwarded. A client that never follows sends no such request: nothing is observed then.
 */
export const movedAway = fault({
  name: 'moved-away',
  parameters: { status: redirectStatus },
  redirects: true,
  canTouch: (request, services) => isUnmoved(request) && otherOriginOf(request, services) !== undefined,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Redirects to another origin without processing the request: to this service under the other name of the loopback address. The link accepts this one request without a key, for a minute. If a client uses neither name, or comes through a proxy, its requests are not affected.',
  goodClient: 'Sends the same request there, but without its key.',
  consequence:
    'Clients send the key to any redirect target, and whoever answers there gets it. Most libraries forward custom header fields, such as `X-API-Key`.',
  perform: ({ request, reply, parameters, services }) => {
    const place = services.openLinks.open(request, 'moved-away');
    const origin = otherOriginOf(request, services) as string;
    redirect(reply, parameters.status, origin + movedTarget(place, request.raw.url as string));
  },
});
