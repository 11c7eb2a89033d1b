import { resetConnection } from '../../http/connections.ts';
import { interceptWrites, onStreams } from './shared/connection-faults.ts';
import { maxDelayedNote, waitUnlessReleased } from './shared/delay-queue.ts';
import { fault, integer } from './shared/fault.ts';

export const streamSilent = fault({
  name: 'stream-silent',
  parameters: {
    streamSilenceMs: integer(
      { minimum: 1, maximum: 600_000, default: 50_000 },
      `How long the stream is silent, in milliseconds. ${maxDelayedNote}`,
    ),
  },
  isSilent: true,
  needsDirectConnection: true,
  ...onStreams,
  undescribed: ['body'],
  group: 'Streams',
  level: 'recommended',
  does: 'Sends the headers of a stream, and then nothing: no event, and none of the comments that normally come every 15 seconds. After the silence it resets the connection (RST).',
  goodClient: 'Closes a stream after 40 seconds of silence, and opens it again after its last event.',
  whyItMatters: 'A connection that broke silently looks like an idle one: clients wait on it for hours.',
  perform: ({ request, reply, parameters, services }) => {
    const { raw: response } = reply;
    interceptWrites(reply, (_, sent) => {
      response.flushHeaders();
      sent();
    });
    const wait = (released: AbortSignal) => waitUnlessReleased(parameters.streamSilenceMs, released);
    void services.delayQueue.hold(request, reply, wait).then(() => {
      if (!response.writableEnded) resetConnection(request.raw.socket);
    });
  },
});
