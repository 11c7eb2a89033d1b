import { once } from 'node:events';
import { connect } from 'node:net';
import type { Petstore } from './petstore.ts';

/** Writes raw bytes to a socket and reads the response until the other side closes. */
export async function exchange(store: Petstore, ...chunks: string[]) {
  const { port } = store.app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket
    .setEncoding('utf8')
    .on('data', (chunk) => (text += chunk))
    .on('error', () => {});
  for (const chunk of chunks) socket.write(chunk);
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => field.toLowerCase().split(': ') as [string, string]),
  );
  return { status: Number(line.split(' ')[1]), headers, text: body, body: body && JSON.parse(body) };
}
