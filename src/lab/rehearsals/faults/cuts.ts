import type { FastifyRequest } from 'fastify';
import {
  cameAfterIdling,
  cameOverConnection,
  endAfter,
  endConnection,
  resetConnection,
} from '../../../http/connections.ts';
import { fault, type Tools } from '../fault.ts';
import { hasBody, insteadOfEnd, surelyHasBody, watchLeaving } from './answers.ts';

/**
 * Whether a cut would be seen by the client itself. A load balancer hides it, and would take the instance for broken, so that
 * others would pay for it.
 */
const isDirect = (request: FastifyRequest, tools: Tools) =>
  cameOverConnection(request.raw) && !tools.isPassedOn(request);

const directly = 'Requests that a proxy has passed on are let through: where proxies are configured, all.';

export const reset = fault({
  name: 'reset',
  parameters: {},
  fits: () => true,
  canTouch: isDirect,
  group: 'Broken connections',
  level: 'recommended',
  does: `Resets the connection (RST) before anything is done. ${directly}`,
  goodClient: 'Retries what may be retried, later each time.',
  bites:
    'Clients retry no failure without a status, or retry a POST without an `Idempotency-Key`, although they cannot know that nothing was done.',
  perform: ({ request, reply, cutOff }) => {
    reply.hijack();
    cutOff();
    resetConnection(request.raw.socket);
    return {};
  },
});

export const lostAnswer = fault({
  name: 'lost-answer',
  parameters: {},
  fits: ({ success }) => success.kind !== 'stream',
  canTouch: isDirect,
  group: 'Broken connections',
  level: 'required',
  does: `Does what was asked, commits it, and resets the connection (RST) instead of an answer. ${directly}`,
  goodClient:
    'Retries with the same `Idempotency-Key`, and gets the first answer: one thing is created. Retries PUT and DELETE as they are.',
  bites: 'Clients retry a POST without an `Idempotency-Key` or with a new one, and a customer pays twice.',
  perform: ({ request, reply, cutOff }) => {
    insteadOfEnd(reply, () => {
      cutOff();
      resetConnection(request.raw.socket);
    });
    watchLeaving(reply, cutOff);
    return {};
  },
});

export const truncated = fault({
  name: 'truncated',
  parameters: {},
  fits: hasBody,
  canTouch: (request, tools) => isDirect(request, tools) && surelyHasBody(request),
  group: 'Broken connections',
  level: 'recommended',
  does: `Announces the whole body by \`Content-Length\`, sends half of it, and closes the connection. What was asked is done. ${directly}`,
  goodClient: 'Notices that the answer is incomplete, uses nothing of it, and retries what may be retried.',
  bites: 'Clients that do not count show half a list, or report a parser that failed as a wrong answer.',
  perform: ({ reply, cutOff }) => {
    insteadOfEnd(reply, (body, end) => {
      endAfter(reply.raw);
      end(body.subarray(0, Math.floor(body.length / 2)));
    });
    watchLeaving(reply, cutOff);
    return {};
  },
});

export const staleConnection = fault({
  name: 'stale-connection',
  parameters: {},
  fits: () => true,
  canTouch: (request, tools) => isDirect(request, tools) && cameAfterIdling(request.raw),
  group: 'Broken connections',
  level: 'recommended',
  does: `Closes a connection (FIN) that carried a request before, just as the next one comes on it. Nothing is done. A client's first request on a connection is let through. ${directly}`,
  goodClient: 'Retries on a new connection. This is not a failure of the service.',
  bites:
    'Connection pools reuse what the server, or a load balancer, has just closed. It happens once in thousands of requests, and never in a test.',
  perform: ({ request, reply, cutOff }) => {
    reply.hijack();
    cutOff();
    endConnection(request.raw.socket);
    return {};
  },
});
