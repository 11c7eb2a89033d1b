import type { Input, Rendered } from '../../http/operation.ts';
import type { PageRequest } from '../../http/pagination.ts';
import { maxWaitingReadings } from '../lab-bounds.ts';

/** The request that reads a recording. Its signal aborts when the client disconnects. */
export type Reader = Pick<Input<never, never, never>, 'workspaceId' | 'keyId' | 'disconnected'>;

/** What operations on recordings need of the instance that runs them. `Readings` in `lab/readings` reads the recordings. */
export interface RecordingServices {
  /** Waits until this instance has written all requests that it has recorded for a key so far. */
  waitUntilRecorded(keyId: string): Promise<void>;
  /** The same, and gives other instances the time to write what they recorded. */
  waitUntilRecordedByAll(keyId: string): Promise<void>;
  readings: {
    page(reader: Reader, recordingId: string, part: PageRequest): Promise<Rendered>;
    archive(reader: Reader, recordingId: string, after: number, url: string): Promise<Rendered>;
  };
}

/** A part of the description of every operation that reads a recording. */
export const readingsBounded = `A key can read one report, archive or page of requests at a time. ${maxWaitingReadings} more wait. The next gets 429 \`rate_limited\` with \`Retry-After\`. A read stops when its client disconnects, even if the client only closes its sending side.`;

/** For `prepare` of operations that read a recording. */
export const whenRecorded = (
  { keyId }: { keyId: string },
  { waitUntilRecorded }: Pick<RecordingServices, 'waitUntilRecorded'>,
) => waitUntilRecorded(keyId);
