import { readFileSync } from 'node:fs';
import { fileAt } from './make.ts';

/** The files that pin what the guide fetches. */
const files = [
  '../../package.json',
  'package.json',
  'requirements.txt',
  'tours/oapi-codegen/go.mod',
  'tours/openapi-generator-go/go.mod',
  'tours/orval/package.json',
];

/** The version of a package that is pinned; undefined if none is. A path of Go may name a program within its module. */
export function pinnedVersion(name: string): string | undefined {
  const plain = RegExp.escape(name.replace(/\/cmd\/.*/, ''));
  const pin = new RegExp(`(?:^|[\\s"])${plain}(?:": "|==| v)([\\w.-]+)`, 'm');
  return files.map((path) => pin.exec(readFileSync(fileAt(path), 'utf8'))?.[1]).find(Boolean);
}
