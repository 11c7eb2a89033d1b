import { prefix } from '../../http/target.ts';
import { onDisconnect } from './shared/connection-faults.ts';
import { waitUnlessReleased } from './shared/delay-queue.ts';
import { fault, isList } from './shared/fault.ts';

/** The delay of each such page, so that a client that follows its link forever costs little. */
const paceMs = 50;

export const samePage = fault({
  name: 'same-page',
  isCondition: true,
  mayEnd: true,
  fits: isList,
  group: 'Lists',
  level: 'recommended',
  does: `The last page of a list has a link with \`rel="next"\` to itself. The page is delayed by ${paceMs} ms.`,
  goodClient:
    'Notices that the link leads to a page that it has already read, and stops or reports an error.',
  whyItMatters:
    'Clients follow the link forever. They read the same items again and again, until their memory or their limit is used up.',
  perform: ({ request, reply, services, touch, cutOff }) => {
    let isLast = false;
    return {
      represent: (answer) => {
        isLast = answer.headers.Link === undefined;
        if (!isLast) return answer;
        touch();
        const Link = `<${urlOf(services.baseUrl, request.url)}>; rel="next"`;
        return { ...answer, headers: { ...answer.headers, Link } };
      },
      answer: async (answer) => {
        if (!isLast) return answer;
        onDisconnect(reply, cutOff);
        await services.delayQueue.hold(request, reply, (released) => waitUnlessReleased(paceMs, released));
        return answer;
      },
    };
  },
});

/** The URL of a request in the form that links have. */
export function urlOf(baseUrl: string, target: string): string {
  const [path = '', query] = target.split('?');
  return (
    baseUrl +
    path.slice(path.indexOf(prefix) + prefix.length) +
    (query ? `?${new URLSearchParams(query)}` : '')
  );
}
