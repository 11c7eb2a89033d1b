import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ampleKey, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

const answerHead = /HTTP\/1\.1 (\d+) [\s\S]*?\r\ncontent-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i;

test('SIGTERM under load: every answer that began is whole, every connection is closed, and the code is 0', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const key = ampleKey(folder);
  const body = '{"name":"Dragons"}';
  const request = `POST /v1/categories HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  let answered = 0;
  const client = async () => {
    const socket = connect(Number(new URL(service.origin).port), '127.0.0.1').on('error', () => {});
    const closed = once(socket, 'close');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      for (let head = answerHead.exec(text); head; head = answerHead.exec(text)) {
        const end = head.index + head[0].length + Number(head[2]);
        if (text.length < end) return;
        assert.equal(head[1], '201');
        text = text.slice(end);
        answered++;
        if (socket.writable) socket.write(request);
      }
    });
    socket.write(request);
    await closed;
    assert.equal(text, '', 'no answer was cut off');
  };
  const clients = Array.from({ length: 32 }, client);
  while (answered < 200) await sleep(5);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  await Promise.all(clients);
  const again = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const newest = await fetch(`${again.origin}/v1/categories?limit=1`, { headers: { 'x-api-key': key } });
  assert.equal(newest.status, 200);
  const last = await fetch(`${again.origin}/v1/categories/${7 + answered}`, {
    headers: { 'x-api-key': key },
  });
  assert.equal(last.status, 200, 'whatever was answered is there');
});
