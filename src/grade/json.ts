import type { Card } from './card.ts';

/** A grade as data. Of requests it has what tells what was tried when, and what came of it. */
export function toData({ grade, entries, again, atMs }: Card): object {
  const { command, baseline, faults, notCompared, verdict } = grade;
  const rankOf = new Map(entries.map(({ fault, rank }) => [fault, rank]));
  return {
    command,
    at: new Date(atMs).toISOString(),
    baseline,
    faults: faults.map(({ requests, ...fault }) => ({
      ...fault,
      rank: rankOf.get(fault.fault),
      again: again(fault.fault),
      requests: requests.map(({ headers: _, answerHeaders, requestId: _id, ...request }) => ({
        ...request,
        ...(answerHeaders['retry-after'] && { retryAfter: answerHeaders['retry-after'] }),
      })),
    })),
    notCompared,
    verdict,
  };
}
