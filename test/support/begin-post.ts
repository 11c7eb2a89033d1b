import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';

/** A connection on which the service waits for the body of a request, by default for two bytes. */
export async function beginPost(t: TestContext, origin: string, key: string, length = 2) {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  t.after(() => socket.destroy());
  const head = `POST /v1/categories HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`;
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 /);
  return socket;
}
