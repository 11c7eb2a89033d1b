import { endAfter } from '../../http/node-internals.ts';
import {
  hasBody,
  interceptAnswer,
  isDirect,
  onDisconnect,
  onlyDirect,
  surelyHasBody,
} from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const truncated = fault({
  name: 'truncated',
  endsConnection: true,
  fits: hasBody,
  canTouch: (request, services) => isDirect(request, services) && surelyHasBody(request),
  undescribed: ['body'],
  group: 'Broken connections',
  level: 'recommended',
  does: `Announces the whole body by \`Content-Length\`, sends half of it, and closes the connection. What was asked is done. ${onlyDirect}`,
  goodClient: 'Notices that the answer is incomplete, uses nothing of it, and retries what may be retried.',
  consequence:
    'Clients that do not count show half a list, or report a parser that failed as a wrong answer.',
  perform: ({ reply, cutOff }) => {
    interceptAnswer(reply, (body, end) => {
      endAfter(reply.raw);
      end(body.subarray(0, Math.floor(body.length / 2)));
    });
    onDisconnect(reply, cutOff);
  },
});
