import { readingThread } from '../../src/lab/petstore/petstore-api.ts';
import { ReadingWorker, type WorkerOfReadings, type workerBounds } from '../../src/lab/readings/readings.ts';

export const newReadingWorker = (bounds?: typeof workerBounds) => new ReadingWorker(readingThread, bounds);

const worker = newReadingWorker();
let previous: Promise<unknown> = Promise.resolve();

/** The thread of all stores of a test file, since its start takes half a second. Stores take turns. */
export const sharedReadingWorker: WorkerOfReadings = {
  make(task, readRows, signal) {
    const made = previous.then(() => {
      signal.throwIfAborted();
      return worker.make(task, readRows, signal);
    });
    previous = made.catch(() => {});
    return made;
  },
  close: async () => {},
};
