/** Writes `openapi.json` from the operations: `npm run generate -- openapi`. */

import { writeFileSync } from 'node:fs';
import { operations } from '../../src/api/operations.ts';
import { describeStore } from '../../src/description/apis.ts';
import { asJson } from '../../src/description/serve-description.ts';
import { readConfig } from '../../src/settings/config.ts';

const { baseUrl } = readConfig({});
writeFileSync(new URL('../../openapi.json', import.meta.url), asJson(describeStore(operations, baseUrl)));
