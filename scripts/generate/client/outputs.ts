import { readFileSync } from 'node:fs';
import { operations } from '../../../src/api/operations.ts';
import { describeAccounts, describeLab } from '../../../src/reference/description/apis.ts';
import { events } from '../../../src/store/events/schema.ts';
import { Description } from './description.ts';
import type { Names, RecordedEvents } from './operations.ts';

/** An API, and the modules of `src/client` that are made from its description. */
export interface Output {
  description: Description;
  /** Where the description is from. */
  source: string;
  names: Names;
  /** Only of the API with the history. */
  events?: RecordedEvents;
  /** Its types and its operations. */
  files: { types: string; operations: string };
}

const own = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const baseUrl = 'http://localhost:8080/v1';
const lab = JSON.stringify(describeLab(baseUrl));
const accounts = JSON.stringify(describeAccounts(baseUrl));

/** The types of events that record what PUT, PATCH and DELETE do: their data is what GET answers at the same path. */
function recordedBy(operationId: string): string[] {
  const { method, path } = operations.find(({ id }) => id === operationId) ?? {};
  if (method !== 'PUT' && method !== 'PATCH' && method !== 'DELETE') return [];
  const read = operations.find((operation) => operation.method === 'GET' && operation.path === path);
  const change = method === 'DELETE' ? 'deleted' : 'updated';
  return events
    .filter((event) => event.data === read?.success.schema && event.change === change)
    .map(({ type }) => type);
}

/** All that the client has from descriptions. */
export const outputs: readonly Output[] = [
  {
    description: new Description(own),
    source: 'openapi.json',
    names: {
      operations: 'Operations',
      doc: 'Every operation of the API, by its operationId.',
      targets: 'targets',
      types: 'description',
    },
    events: { types: events.map(({ type }) => type), recordedBy },
    files: { types: 'description.ts', operations: 'operations.ts' },
  },
  {
    description: new Description(lab),
    source: 'the description of the lab',
    names: {
      operations: 'Lab',
      doc: 'A client of the lab: every operation, by its operationId.',
      targets: 'labTargets',
      types: 'lab-description',
    },
    files: { types: 'lab-description.ts', operations: 'lab-operations.ts' },
  },
  {
    description: new Description(accounts),
    source: 'the description of accounts',
    names: {
      operations: 'Accounts',
      doc: 'A client of accounts: every operation, by its operationId.',
      targets: 'accountsTargets',
      types: 'accounts-description',
    },
    files: { types: 'accounts-description.ts', operations: 'accounts-operations.ts' },
  },
];

/** The type of all error codes that a client may meet. It stands beside the types of the API. */
export function errorCodesText(): string {
  const codes = new Set(outputs.flatMap(({ description }) => description.errorCodes));
  return `
/** Every error code that the descriptions of the API, the lab and accounts name. Later versions may have more. */
export type ErrorCode = ${[...codes]
    .sort()
    .map((code) => `'${code}'`)
    .join(' | ')};
`;
}
