// Converts the changelog to HTML. This takes about 0.04 seconds.

import { readFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { marked } from 'marked';
import { sendText } from '../../http/content-codings.ts';

const page = await readFile(new URL('./page/changelog.html', import.meta.url), 'utf8');
const text = await marked.parse(workerData);
sendText(page.replace('<main></main>', () => `<main>\n${text}</main>`));
