import type { BanRules } from '../limits/decision.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Readings } from './recordings/readings.ts';

/** What operations of the lab need of the instance on which they run. */
export interface LabServices {
  /** Waits until what this instance answered of a key before, or its client gave up, can be read in its recordings. */
  recorded(keyId: string): Promise<void>;
  readings: Readings;
  /** What counts the requests of keys. */
  limiter: Pick<Limiter, 'find'>;
  banRules: BanRules;
}

/** Before a recording is read or ended: waits for what can be kept of it. */
export const whenRecorded = ({ keyId }: { keyId: string }, lab: LabServices) => lab.recorded(keyId);
