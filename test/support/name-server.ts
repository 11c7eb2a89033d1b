import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';

const [ipv4, answered, noSuchName] = [1, 0x8180, 0x8183];

/** A name server of this machine (RFC 1035) with the IPv4 addresses of some names, which may change. It ends with the test. */
export async function startNameServer(t: TestContext, addresses: Map<string, string>) {
  const server = createSocket('udp4');
  const state = { port: 0, asked: 0 };
  server.on('message', (query, { port, address }) => {
    state.asked++;
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const known = addresses.get(labels.join('.'));
    const isGiven = known !== undefined && query.readUInt16BE(at + 1) === ipv4;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    for (const [i, word] of [known === undefined ? noSuchName : answered, 1, isGiven ? 1 : 0].entries())
      head.writeUInt16BE(word, 2 + 2 * i);
    // It points to the name in the question, and is valid for a second.
    const record = isGiven
      ? [0xc0, 12, 0, ipv4, 0, 1, 0, 0, 0, 1, 0, 4, ...known.split('.').map(Number)]
      : [];
    server.send(Buffer.concat([head, query.subarray(12, at + 5), Buffer.from(record)]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  state.port = server.address().port;
  return state;
}
