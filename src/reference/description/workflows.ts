import { parse } from 'yaml';
import { version } from '../../foundation/version.ts';
import { labUrlOf } from '../../http/target.ts';
import { fileText, fill } from './guides.ts';
import type { JsonObject } from './schemas.ts';

/** The Arazzo document of the store: what a good client does, as workflows that tools run. */
export const describeWorkflows = (baseUrl: string) => read('workflows.yaml', baseUrl);

/** The same with failures that the lab performs. */
export const describeRehearsedWorkflows = (baseUrl: string) => read('workflows-with-failures.yaml', baseUrl);

const read = (file: string, baseUrl: string): JsonObject =>
  parse(fill(fileText(file), { version, base_url: baseUrl, lab_url: labUrlOf(baseUrl) }));
