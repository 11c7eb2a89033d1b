import { movedTarget } from '../../http/moved.ts';
import type { Caller } from '../../keys/store.ts';
import { choice, fault } from './shared/fault.ts';
import { isUnmoved, originOf, redirect, redirectStatus } from './shared/redirect.ts';

/**
 * The other path holds the id of the rehearsal, and takes its key alone. The request there is recorded as the operation, with the target
 * that it had at first and with this fault. One that comes without the key gets 401, and no recording has it: the service cannot know
 * whose it is. `moved-away` shows whether the key goes to another origin.
 */
export const moved = fault({
  name: 'moved',
  parameters: {
    status: redirectStatus,
    location: choice(
      ['path', 'url'],
      'What `Location` is. A client that calls the service by a name of its own gets a path.',
    ),
  },
  redirects: true,
  canTouch: isUnmoved,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Redirects to another path of the same origin without processing the request. The operation is served there during the rehearsal.',
  goodClient: 'Sends the same request there, with method, body, header fields and key.',
  consequence:
    'Clients follow with GET, without a body or without the key. Others treat the redirect as a success.',
  perform: ({ request, reply, parameters, services }) => {
    const { rehearsalId } = request.caller as Caller;
    const origin = parameters.location === 'url' ? originOf(request, services) : undefined;
    const target = movedTarget(rehearsalId as string, request.raw.url as string);
    redirect(reply, parameters.status, (origin ?? '') + target);
  },
});
