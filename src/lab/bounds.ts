/** What a key may ask of the lab. */

/** Requests below `/lab`. They have an account of their own and take nothing from the plan. The minute alone bounds them. */
export const labQuota = { perMinute: 600, perDay: 600 * 24 * 60 };
export const maxFaults = 100;
/** A rehearsal or a recording lasts so long at most, and is kept for so long. */
export const dayInSeconds = 86_400;
/** Rehearsals, and recordings, that are kept of a key: the newest. */
export const maxKept = 20;
export const maxRecorded = 5_000;
/** Characters that all recordings of a key keep when it begins another: the oldest go. */
export const maxKeptSize = 64 * 1024 * 1024;
/** Characters that a recording keeps, and that wait in an instance to be written, of all recordings and of one. What comes then is left out. */
export const recorderBounds = {
  maxRecorded,
  maxRecordedSize: 48 * 1024 * 1024,
  maxUnwritten: 16 * 1024 * 1024,
  maxUnwrittenOfOne: 4 * 1024 * 1024,
};
/** Of a body, so many bytes are kept. */
export const maxRecordedBody = 8_192;
/** Of its target, and of its header fields and those of its answer, so many characters each. */
export const maxRecordedHead = 4_096;
/** Requests, and characters of what is kept of them, in one HTTP Archive. */
export const archiveBounds = { requests: 1_000, characters: 2 * 1024 * 1024 };
/** Reports and archives that an instance makes at once. */
export const maxReadings = 2;
/** Of the path of the request that began a ban, so many characters are kept. */
export const maxBanPath = 200;
/** Recordings of which an instance keeps what links their requests: those that were read last. */
export const maxFollowed = 8;
/** A workspace that holds more rows, or that keeps more Idempotency-Keys beside them, is reset by the command alone. */
export const maxResetRows = 10_000;
export const maxResetKeys = 10_000;
/** No fault makes an answer later than this. */
export const maxDelayMs = 30_000;
/** Nor one that was passed on: the load balancer of `deploy/` takes 30 s without an answer for a broken instance. */
export const maxDelayPassedOnMs = 20_000;
/** Requests of a key that an instance holds back at once. */
export const maxHeldBack = 100;
