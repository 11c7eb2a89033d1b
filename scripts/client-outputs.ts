import { readFileSync } from 'node:fs';
import { describeLab } from '../src/openapi/lab.ts';
import { Description } from './client-description.ts';
import type { Names } from './client-operations.ts';

/** An API, and the modules of `src/client` that are made from its description. */
export interface Output {
  description: Description;
  /** Where the description is from. */
  source: string;
  names: Names;
  /** Its types and its operations. */
  files: { types: string; operations: string };
}

const own = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
const lab = JSON.stringify(describeLab('http://localhost:8080/v1'));

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
];
