import { text as readText } from 'node:stream/consumers';
import type { Petstore } from './petstore.ts';
import { partsOf } from './raw-client.ts';

/** Writes raw bytes to a socket and reads the response until the other side closes. */
export async function exchange(store: Petstore, ...chunks: string[]) {
  const socket = store.connect();
  socket.on('end', () => socket.end());
  for (const chunk of chunks) socket.write(chunk);
  const { head, body } = partsOf(await readText(socket));
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => field.toLowerCase().split(': ') as [string, string]),
  );
  return { status: Number(line.split(' ')[1]), headers, text: body, body: body && JSON.parse(body) };
}
