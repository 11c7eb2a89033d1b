// Makes readings of recordings, one at a time, in a thread: their long synchronous steps delay no request.

import { parentPort } from 'node:worker_threads';
import type { Row } from '../../db/sql.ts';
import { etagOf } from '../../http/etag.ts';
import { jsonText } from '../../http/json.ts';
import { LinkCache, readRecording } from '../readings/read-recording.ts';
import type { FromThread, ReadingResult, ReadingTask, ReadRows, ToThread } from '../readings/worker.ts';
import { petstoreApi } from './petstore-api.ts';

const links = new LinkCache();
let giveRows: (rows: Row[]) => void;

parentPort?.on('message', (message: ToThread) => {
  if ('rows' in message) giveRows(message.rows);
  else void perform(message.task, message.flag);
});

async function perform(task: ReadingTask, flag: Int32Array): Promise<void> {
  const throwIfCanceled = () => {
    if (Atomics.load(flag, 0) !== 0) throw new Error('This reading is cancelled.');
  };
  const readRows: ReadRows = async (slice) => {
    const rows = await new Promise<Row[]>((resolve) => {
      giveRows = resolve;
      send({ slice });
    });
    throwIfCanceled();
    return rows;
  };
  try {
    const { value, next } = await readRecording(task, { api: petstoreApi, readRows, links, throwIfCanceled });
    const text = jsonText(value);
    throwIfCanceled();
    const bytes = new TextEncoder().encode(text);
    const reading: ReadingResult = { bytes, etag: etagOf(text), ...(next !== undefined && { next }) };
    send({ reading }, [bytes.buffer]);
  } catch (error) {
    send({ failure: String((error as Error).stack ?? error) });
  }
}

const send = (message: FromThread, moved: ArrayBuffer[] = []) => parentPort?.postMessage(message, moved);
