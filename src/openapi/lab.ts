import { labPrefix } from '../http/target.ts';
import { labQuota } from '../lab/bounds.ts';
import { labOperations } from '../lab/operations.ts';
import { referenceUrl } from '../reference-url.ts';
import { type About, describe } from './document.ts';
import type { JsonObject } from './schemas.ts';

/** Where callers find the lab of an API. */
export const labUrlOf = (baseUrl: string) => baseUrl.replace(/\/v1$/, labPrefix);

/** The description of the lab of an API at `baseUrl`. */
export const describeLab = (baseUrl: string): JsonObject =>
  describe(labOperations, labUrlOf(baseUrl), aboutLab(baseUrl));

/** What the description says of the whole lab. */
const aboutLab = (baseUrl: string): About => ({
  title: 'Petstore lab',
  introduction: `The lab puts a client to the test. A **rehearsal** makes the API at ${baseUrl} perform hard cases for your key alone: limits,
bans, failures, connections that break. A **recording** keeps what your client really sends and gets, and its report card tells
whether the client kept its half of the interface.

The keys are those of the API. Requests to the lab take nothing from the limits of a key, and are bounded by ${labQuota.perMinute} a minute
of their own. [Rehearse failures](${referenceUrl(baseUrl)}#tag/rehearse-failures) shows each fault with an example.`,
  guides: [],
  quota: labQuota,
  tags: [
    { name: 'Rehearsals', description: 'Faults on demand, for your key alone.' },
    { name: 'Recordings', description: 'What your client sent and got, and a report card of it.' },
    { name: 'Account', description: 'How your key stands, and its workspace.' },
  ],
});
