import { endAfter } from '../../http/node-internals.ts';
import { delivering, onBodies } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const truncated = fault({
  name: 'truncated',
  isQuick: true,
  endsConnection: true,
  needsDirectConnection: true,
  ...onBodies,
  undescribed: ['body'],
  group: 'Broken connections',
  level: 'recommended',
  does: 'Processes the request, announces the whole body with `Content-Length`, sends half of it, and closes the connection.',
  goodClient:
    'Notices that the response is incomplete, discards it with its `ETag`, and retries requests that are safe to retry.',
  whyItMatters:
    'Clients that do not check the length show half a list, or report a syntax error. Others keep the `ETag` before the body is complete: the retry gets 304, and half a list stays in their cache.',
  perform: (invocation) =>
    delivering(invocation, (body) => {
      const { raw: response } = invocation.reply;
      endAfter(response);
      response.end(body.subarray(0, Math.floor(body.length / 2)));
    }),
});
