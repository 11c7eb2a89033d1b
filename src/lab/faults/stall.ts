import {
  hasBody,
  interceptAnswer,
  isDirect,
  onDisconnect,
  onlyDirect,
  surelyHasBody,
} from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';
import { resetAfterSilence, silenceMs } from './shared/silence.ts';

export const stall = fault({
  name: 'stall',
  parameters: { silenceMs },
  endsConnection: true,
  isSilent: true,
  fits: hasBody,
  canTouch: (request, services) => isDirect(request, services) && surelyHasBody(request),
  undescribed: ['body'],
  group: 'Broken connections',
  level: 'recommended',
  does: `Does what was asked, sends the head of the answer and half of its body, and then nothing. When the silence is over, the connection is reset. ${onlyDirect}`,
  goodClient:
    'Has a time limit that lasts until the end of the body. Then it uses nothing of the half, and retries what may be retried.',
  consequence:
    'The time limit of many clients ends with the head of the answer: they wait for the rest of the body for ever.',
  perform: (invocation) => {
    const { reply, parameters, cutOff } = invocation;
    interceptAnswer(reply, (body) => {
      reply.raw.write(body.subarray(0, Math.floor(body.length / 2)));
      void resetAfterSilence(invocation, parameters.silenceMs);
    });
    onDisconnect(reply, cutOff);
  },
});
