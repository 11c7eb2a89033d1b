import type { BanRules } from '../limits/decision.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Resets } from './account/resets.ts';
import type { Links } from './recordings/links.ts';
import type { Readings } from './recordings/readings.ts';

/** What operations of the lab need of the instance on which they run. */
export interface LabServices {
  /** Waits until what this instance answered of a key before, or its client gave up, can be read in its recordings. */
  recorded(keyId: string): Promise<void>;
  /** Waits until the account of a key can tell which request began its ban here. */
  banStartKnown(keyId: string): Promise<void>;
  resets: Resets;
  readings: Readings;
  links: Links;
  /** What counts the requests of keys. */
  limiter: Pick<Limiter, 'find' | 'sharing'>;
  banRules: BanRules;
}

/** Before a recording is read or ended: waits for what can be kept of it. */
export const whenRecorded = ({ keyId }: { keyId: string }, lab: LabServices) => lab.recorded(keyId);
