import { resetConnection } from '../../http/connections.ts';
import { interceptAnswer, isDirect, onDisconnect, onlyDirect } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const lostAnswer = fault({
  name: 'lost-answer',
  endsConnection: true,
  fits: ({ success }) => success.kind !== 'stream',
  canTouch: isDirect,
  group: 'Broken connections',
  level: 'required',
  does: `Does what was asked, commits it, and resets the connection (RST) instead of an answer. ${onlyDirect}`,
  goodClient:
    'Retries with the same `Idempotency-Key`, and gets the first answer: one thing is created. Retries PUT and DELETE as they are.',
  consequence:
    'Clients retry a POST without an `Idempotency-Key` or with a new one, and a customer pays twice.',
  perform: ({ request, reply, cutOff }) => {
    interceptAnswer(reply, () => {
      cutOff();
      resetConnection(request.raw.socket);
    });
    onDisconnect(reply, cutOff);
  },
});
