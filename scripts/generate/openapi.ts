/** Writes `openapi.json` from the operations: `npm run generate -- openapi`. */

import { writeFileSync } from 'node:fs';
import { operations } from '../../src/api/operations.ts';
import { readConfig } from '../../src/foundation/settings/config.ts';
import { describeStore } from '../../src/reference/description/apis.ts';
import { asJson } from '../../src/reference/description/serve-description.ts';

const { baseUrl } = readConfig({});
writeFileSync(new URL('../../openapi.json', import.meta.url), asJson(describeStore(operations, baseUrl)));
