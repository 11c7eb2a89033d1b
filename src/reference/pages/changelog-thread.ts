// Converts the changelog to HTML. This takes about 0.04 seconds.

import { workerData } from 'node:worker_threads';
import { marked } from 'marked';
import { sendText } from '../../http/content-codings.ts';

const { page, text } = JSON.parse(workerData);
const content = await marked.parse(text);
sendText(page.replace(/(?<=<main[^>]*>\n)/, () => content));
