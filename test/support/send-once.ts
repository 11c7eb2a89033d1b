/** Asks one URL, and then sends a webhook to another one: a process whose environment says something about proxies and certificates. */
import { get } from 'node:http';
import { sendTo } from './receiver.ts';

const [asked = '', target = ''] = process.argv.slice(2);
await new Promise((resolve) => get(asked, resolve).on('error', resolve));
process.stdout.write(JSON.stringify(await sendTo(target)));
process.exit();
