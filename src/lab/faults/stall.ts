import { delivering, onBodies, resetAfterSilence, silenceMs } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const stall = fault({
  name: 'stall',
  parameters: { silenceMs },
  endsConnection: true,
  isSilent: true,
  needsDirectConnection: true,
  ...onBodies,
  undescribed: ['body'],
  group: 'Broken connections',
  level: 'recommended',
  does: 'Processes the request, sends the headers and half of the body, and then nothing. After the silence the connection is reset.',
  goodClient:
    'Has a timeout that covers the whole body. Then it discards the incomplete response, and retries requests that are safe to retry.',
  whyItMatters:
    'The timeout of many clients covers only the headers: they wait for the rest of the body forever.',
  perform: (invocation) =>
    delivering(invocation, (body) => {
      invocation.reply.raw.write(body.subarray(0, Math.floor(body.length / 2)));
      void resetAfterSilence(invocation, invocation.parameters.silenceMs);
    }),
});
