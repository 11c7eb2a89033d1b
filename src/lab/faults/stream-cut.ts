import { endConnection } from '../../http/connections.ts';
import { cutEvents, interceptWrites, onStreams } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const streamCut = fault({
  name: 'stream-cut',
  needsDirectConnection: true,
  ...onStreams,
  group: 'Streams',
  level: 'recommended',
  does: 'Closes the connection of a stream in the middle of an event: after its `id` and half of its `data`. This is the first event, or the last one if the stream sends several at once.',
  goodClient: 'Discards the incomplete event, and opens the stream again after the last complete one.',
  whyItMatters:
    'Clients that save the `id` before the event is complete lose this event. Others start again from the first event.',
  perform: ({ request, reply }) => {
    let isCut = false;
    interceptWrites(reply, (bytes, sent, send) => {
      if (isCut) return;
      const end = middleOfLastEvent(bytes);
      isCut = end !== undefined;
      if (!isCut) return send(bytes, sent);
      const half = bytes.subarray(0, end);
      const id = [...half.toString().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1];
      if (id !== undefined) cutEvents.set(request.raw, id);
      send(half, () => endConnection(request.raw.socket));
    });
  },
});

const dataField = '\ndata: ';

/** The middle of the data of the last event; undefined if there is none. */
function middleOfLastEvent(bytes: Buffer): number | undefined {
  const field = bytes.lastIndexOf(dataField);
  if (field === -1) return undefined;
  const start = field + dataField.length;
  return start + Math.floor((bytes.indexOf('\n', start) - start) / 2);
}
