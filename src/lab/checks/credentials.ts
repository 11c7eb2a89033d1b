import { counted } from '../../foundation/words.ts';
import { nextAway } from '../faults/links.ts';
import { movedAway } from '../faults/moved.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { isTouchedByAny } from './request-facts.ts';
import { followedRedirects } from './retry-pairs.ts';

/** The headers that carry a key. Recordings store only their names. */
const credentials = ['authorization', 'x-api-key'];
const hasKey = ({ headers }: Recorded) => credentials.some((name) => name in headers);
const originOf = ({ headers }: Recorded) => headers.host?.toLowerCase();

export const credentialsNotForwarded: Check = {
  name: 'credentials.not-forwarded',
  level: 'required',
  asks: 'The client sends its key only to the origin of the service, and not to another origin that a redirect or a link names.',
  judged: `Looks at requests that follow a redirect, or a link to the next page, to another host. Fails: a request with ${credentials.map((name) => `\`${name}\``).join(' or ')}. Passes: a request without them. A redirect within the host may keep the key.`,
  unseen: 'The client followed no redirect and no link to another host.',
  faults: [movedAway.name, nextAway.name],
  advice:
    'Add your key only if a URL has the origin of the service. Follow redirects yourself, or use a library that removes the key for another origin, `X-API-Key` too.',
  guide: 'Errors',
  judge({ requests }) {
    const redirected = followedRedirects(requests)
      .filter(({ failed, retry }) => originOf(failed) !== originOf(retry))
      .map(({ retry }) => retry);
    // The first of these pages has the link.
    const [first, ...pages] = requests.filter((request) => isTouchedByAny(request, [nextAway.name]));
    const linked = pages.filter((page) => first && originOf(page) !== originOf(first));
    const away = [...redirected, ...linked];
    const bad = away.filter(hasKey);
    return {
      bad,
      good: away,
      failed: `${counted(bad.length, 'request')} sent the key to another host.`,
      passed: 'Requests to another host had no key.',
    };
  },
};
