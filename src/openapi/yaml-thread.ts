// Writes a description as YAML, which takes some 0.2 seconds.

import { workerData } from 'node:worker_threads';
import { sendForms } from '../http/forms.ts';
import { asYaml } from './serve.ts';

await sendForms(await asYaml(JSON.parse(workerData)));
