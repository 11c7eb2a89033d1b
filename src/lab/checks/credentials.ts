import { movedAway } from '../faults/moved-away.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';
import { followedRedirects } from './request-facts.ts';

/** The header fields that carry a key. Recordings keep their names alone. */
const credentials = ['authorization', 'x-api-key'];
const hasKey = ({ headers }: Recorded) => credentials.some((name) => name in headers);
const originOf = ({ headers }: Recorded) => headers.host?.toLowerCase();

export const credentialsNotForwarded: Check = {
  name: 'credentials.not-forwarded',
  level: 'required',
  asks: 'The client sends its key to the origin that it was made for, and not to another one after a redirect.',
  judged: `Judged are requests that follow a redirect to another host. A request with ${credentials.map((name) => `\`${name}\``).join(' or ')} fails, and one without passes. After a redirect within the host, the key is right.`,
  unseen: 'No redirect to another host was followed.',
  faults: [movedAway.name],
  advice:
    'Follow redirects yourself, or by a library that removes your key, `X-API-Key` too, for another origin.',
  guide: 'Errors',
  judge({ requests }) {
    const away = followedRedirects(requests)
      .filter(({ redirect, next }) => originOf(redirect) !== originOf(next))
      .map(({ next }) => next);
    const bad = away.filter(hasKey);
    return {
      bad,
      good: away,
      failed: `${counted(bad.length, 'request')} took the key to another host.`,
      passed: 'Requests to another host had no key.',
    };
  },
};
