import { endConnection } from '../../http/connections.ts';
import { isDirect, onlyDirect } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';
import { cutEvents, hasEvents, interceptWrites, isStream } from './shared/stream-writes.ts';

export const streamCut = fault({
  name: 'stream-cut',
  fits: isStream,
  canTouch: (request, services) => isDirect(request, services) && hasEvents(request),
  group: 'Streams',
  level: 'recommended',
  does: `Closes the connection of a stream in the middle of its first event, or of the last of those that it sends at once: the \`id\` and half of the \`data\` come. ${onlyDirect}`,
  goodClient: 'Uses nothing of the half event, and opens the stream again after the last whole one.',
  consequence:
    'Clients that keep the `id` as it comes take the half event for received, and lose it. Others begin with the first event again.',
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
