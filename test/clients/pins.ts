import { readFileSync } from 'node:fs';
import { fileAt } from './make.ts';

/** The files that pin the packages of the guide. */
const files = [
  '../../package.json',
  'package.json',
  'requirements.txt',
  'tours/oapi-codegen/go.mod',
  'tours/openapi-generator-go/go.mod',
  'tours/orval/package.json',
];

/** The pinned version of a package, or undefined. A Go path may name a program within its module. */
export function pinnedVersion(name: string): string | undefined {
  const plain = RegExp.escape(name.replace(/\/cmd\/.*/, ''));
  const pin = new RegExp(`(?:^|[\\s"])${plain}(?:": "|==| v)([\\w.-]+)`, 'm');
  return files.map((path) => pin.exec(readFileSync(fileAt(path), 'utf8'))?.[1]).find(Boolean);
}
