import { aliasedTarget } from '../../http/target.ts';
import { choice, fault } from './shared/fault.ts';
import { isUnmoved, originOf, redirect, redirectStatus } from './shared/redirect.ts';

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
    const origin = parameters.location === 'url' ? originOf(request, services) : undefined;
    const target = aliasedTarget(rehearsalId, request.raw.url as string);
    redirect(reply, parameters.status, (origin ?? '') + target);
  },
});
