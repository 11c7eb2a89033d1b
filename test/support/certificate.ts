import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { needs, working } from './programs.ts';

const command = 'openssl';
export const needsOpenssl = needs(working(command, ['version']) !== undefined, command);

/** A self-signed certificate for a name, with its key. */
export function makeCertificate(t: TestContext, name: string): { cert: string; key: string } {
  const folder = temporaryFolder(t);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync(command, ['req', ...kind, ...subject, '-out', cert, '-keyout', key], { stdio: 'pipe' });
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
