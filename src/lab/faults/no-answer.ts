import { delivering, resetAfterSilence, silenceMs } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const noAnswer = fault({
  name: 'no-answer',
  parameters: { silenceMs },
  endsConnection: true,
  isSilent: true,
  fits: ({ success }) => success.kind !== 'stream',
  needsDirectConnection: true,
  group: 'Broken connections',
  level: 'recommended',
  does: 'Processes the request, commits a change, and sends nothing. After the silence the connection is reset.',
  goodClient: 'Has a timeout, and then retries. A POST has the same `Idempotency-Key`.',
  whyItMatters:
    'Many HTTP libraries have no timeout unless you set one: the client hangs until somebody restarts it.',
  perform: (invocation) =>
    delivering(invocation, () => void resetAfterSilence(invocation, invocation.parameters.silenceMs)),
});
