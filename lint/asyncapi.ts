/** Reads the AsyncAPI document with the parser of AsyncAPI, and prints all that it finds. */

import { readFileSync } from 'node:fs';
import { DiagnosticSeverity, Parser } from '@asyncapi/parser';

const text = readFileSync(new URL('documents/asyncapi.json', import.meta.url), 'utf8');
const { document, diagnostics } = await new Parser().parse(text);
// Information is no finding: it recommends a newer version of AsyncAPI.
const findings = diagnostics.filter(({ severity }) => severity <= DiagnosticSeverity.Warning);
for (const { message, path } of findings) console.log(`${path.join('.')}: ${message}`);
if (!document || findings.length > 0) process.exit(1);
const messages = document.allMessages().length;
console.log(`asyncapi.json: valid, with ${messages} messages.`);
