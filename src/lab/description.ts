import type { About } from '../openapi/document.ts';
import { referenceUrl } from '../reference-url.ts';
import { requestsPerMinute } from './bounds.ts';

/** What the description of the lab says of all of it. `baseUrl` is that of the API which it acts on. */
export const aboutLab = (baseUrl: string): About => ({
  title: 'Petstore lab',
  introduction: `The lab puts a client to the test. A **rehearsal** makes the API at ${baseUrl} perform hard cases for your key alone: limits,
bans, failures, connections that break. A **recording** keeps what your client really sends and gets, and its report card tells
whether the client kept its half of the interface.

The keys are those of the API. Requests to the lab take nothing from the limits of a key, and are bounded by ${requestsPerMinute} a minute
of their own. [Rehearse failures](${referenceUrl(baseUrl)}#tag/rehearse-failures) shows each fault with an example.`,
  guides: [],
  tags: [
    { name: 'Rehearsals', description: 'Faults on demand, for your key alone.' },
    { name: 'Recordings', description: 'What your client sent and got, and a report card of it.' },
    { name: 'Account', description: 'How your key stands.' },
  ],
});
