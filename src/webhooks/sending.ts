import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import type { Changes } from '../history/changes.ts';
import type { InstallationKey } from '../secret-key.ts';
import type { DisabledReason } from './schema.ts';
import type { Outcome, Outgoing } from './send.ts';
import type { Slots } from './slots.ts';

/** What became of attempts, and of webhooks, since the start. */
export interface DeliveryCounts {
  delivered: number;
  /** Failed, and tried again later. */
  failed: number;
  /** Failed, and not tried again. */
  givenUp: number;
  disabled: Record<DisabledReason, number>;
}

/** What all webhooks of an instance share. */
export interface Sending {
  db: Database;
  /** Is told of a webhook that was disabled, which is an event. */
  changes: Changes;
  key: InstallationKey;
  /** Sends once; never rejects because of the receiver. */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Outcome>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** From 0 to 1. */
  random: () => number;
  log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
  /** Names this instance. */
  owner: string;
  slots: Slots;
  /** For how long a webhook is kept with nothing to send; two seconds by default. */
  idleMs?: number;
  counts: DeliveryCounts;
}
