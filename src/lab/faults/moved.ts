import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf, otherOriginOf } from '../../http/address.ts';
import { aliasedTarget, prefix } from '../../http/target.ts';
import { headersOf } from '../../http/write-response.ts';
import { choice, type FaultServices, fault, integer } from './shared/fault.ts';

/** The parameter for the status of a redirect. */
const redirectStatus = integer(
  { minimum: 307, maximum: 308, default: 307 },
  'The status: 307 (temporary) or 308 (permanent). Both keep method and body.',
);

/** For `canTouch`: no request is redirected twice. */
export const isUnmoved = ({ raw: { alias, url } }: FastifyRequest) =>
  alias === undefined && url?.startsWith(`${prefix}/`) === true;

/** The other path contains the id of the rehearsal and needs its key. Without it the request gets 401, and is not recorded. */
export const moved = fault({
  name: 'moved',
  parameters: {
    status: redirectStatus,
    location: choice(
      ['path', 'url'],
      'Whether `Location` is a path or a URL. It is always a path if the service does not know the host name that the client uses.',
    ),
  },
  redirects: true,
  canTouch: isUnmoved,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Redirects to another path of the same origin without processing the request. The operation is served there during the rehearsal.',
  goodClient: 'Sends the same request there, with the same method, body, headers and key.',
  whyItMatters:
    'Clients follow the redirect with GET, without a body or without the key. Others treat the redirect as a success.',
  perform: ({ request, reply, rehearsalId, parameters, services }) => {
    const origin = parameters.location === 'url' ? originOf(request, services.baseUrl) : undefined;
    const target = aliasedTarget(rehearsalId, request.raw.url as string);
    redirect(reply, parameters.status, (origin ?? '') + target);
  },
});

/** The other loopback origin of a client that is connected directly. */
export const otherOrigin = (request: FastifyRequest, { isPassedOn }: FaultServices) =>
  isPassedOn(request) ? undefined : otherOriginOf(request);

/** The other origin is this service under its other loopback name. The path is a link that needs no key, so it always responds. */
export const movedAway = fault({
  name: 'moved-away',
  parameters: { status: redirectStatus },
  redirects: true,
  mayEnd: true,
  canTouch: (request, services) => isUnmoved(request) && otherOrigin(request, services) !== undefined,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Redirects to another origin without processing the request. Both origins are this service: one URL has its loopback host name, the other its loopback address. The redirect URL accepts this one request without a key, for a minute. Requests with another host name or through a proxy are not affected.',
  goodClient: 'Sends the same request there, but without its key.',
  whyItMatters:
    'Clients send the key to any redirect target, whose owner can then use it. Most libraries forward custom headers, such as `X-API-Key`.',
  perform: ({ request, reply, rehearsalId, parameters, services }) => {
    const place = services.openLinks.open(request, 'moved-away', rehearsalId);
    const origin = otherOrigin(request, services) as string;
    redirect(reply, parameters.status, origin + aliasedTarget(place, request.raw.url as string));
  },
});

function redirect(reply: FastifyReply, status: number, Location: string): void {
  reply
    .code(status)
    .headers({ ...headersOf(reply.request), Location })
    .send();
}
