/** The bounds of the lab for each key. */

/** The limits of requests below `/lab`, which are not counted by the plan. The limit of the day is never reached. */
export const labQuota = { perMinute: 600, perDay: 600 * 24 * 60 };
/** The faults of one rehearsal. */
export const maxFaults = 100;
/** How many uses may pass before a fault, and how often it may be performed. */
export const maxUses = 10_000;
/** The longest life of a rehearsal or a recording. Both are removed a day after they began. */
export const maxLifeSeconds = 86_400;
/** The number of rehearsals, and of recordings, that the storage keeps for a key: the newest. */
export const maxKept = 20;
/** The requests of one recording. */
export const maxRecorded = 5_000;
/** Characters in all recordings of a key. When the key starts another, the oldest are removed. */
export const maxKeptSize = 64 * 1024 * 1024;
export const recorderBounds = {
  /** Requests of a recording, and of all recordings of a key in a day (UTC). */
  maxRecorded,
  maxRecordedPerDay: 100_000,
  /** Characters of a recording, and of the unwritten data in an instance: of all recordings and of one. */
  maxRecordedSize: 48 * 1024 * 1024,
  maxUnwritten: 16 * 1024 * 1024,
  maxUnwrittenOfOne: 4 * 1024 * 1024,
};
/** The time within which an instance writes recorded requests, unless the storage is slow. It gathers requests for 20 ms. */
export const othersWriteMs = 500;
/** Recorded bytes of a request body. */
export const maxRecordedBody = 8_192;
/** Recorded characters of a target, of the headers of a request, and of those of its response: each. */
export const maxRecordedHead = 4_096;
/** Requests of one HTTP Archive, and characters that were recorded of them. */
export const archiveBounds = { requests: 1_000, characters: 2 * 1024 * 1024 };
/** A key reads one report, archive or page of requests at a time. This many more reads may wait. */
export const maxWaitingReportJobs = 3;
/** Stored characters of the path of the request that began a ban. */
export const maxBanPath = 200;
/** The recordings whose links an instance caches: those that were read last. */
export const maxFollowed = 8;
/** The Idempotency-Keys of a key below `/lab`. The response to 100 faults has 14 kB. */
export const labKeptBounds = { keys: 10_000, bytes: 16_000_000 };
/** Rows that a request resets at most, so that it blocks others for at most 20 ms. The command resets larger workspaces. */
export const maxResetRows = 1_000;
/** Resets of a workspace by requests in a day (UTC): more than two a minute. Each has two events, which go to all webhooks. */
export const maxResetsPerDay = 3_000;
/** The longest delay by a fault. */
export const maxDelayMs = 30_000;
/** The same for a request that came through a proxy: with `deploy/nginx.conf`, nginx gives up an instance after 7 s. */
export const maxDelayPassedOnMs = 5_000;
/** Requests of a key that an instance delays at once. */
export const maxDelayed = 100;
/** Events of the history in which `stale-read` looks for the last change of a resource. */
export const maxStaleEvents = 500;
