// Converts a description to YAML. This takes about 0.2 seconds.

import { workerData } from 'node:worker_threads';
import { sendText } from '../../http/content-codings.ts';
import { asYaml } from './serve-description.ts';

sendText(await asYaml(JSON.parse(workerData)));
