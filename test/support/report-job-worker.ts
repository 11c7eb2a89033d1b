import { reportThread } from '../../src/lab/petstore/petstore-api.ts';
import {
  type ReportJobRunner,
  ReportJobWorker,
  type workerBounds,
} from '../../src/lab/report-jobs/report-jobs.ts';

export const newReportJobWorker = (bounds?: typeof workerBounds) => new ReportJobWorker(reportThread, bounds);

const worker = newReportJobWorker();
let previous: Promise<unknown> = Promise.resolve();

/** The thread of all stores of a test file, since its start takes half a second. Stores take turns. */
export const sharedReadingWorker: ReportJobRunner = {
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
