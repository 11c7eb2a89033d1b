import { globSync } from 'node:fs';
import { root, textOf } from '../support/tree.ts';

/** The files that pin packages. */
const files = globSync(
  [
    'package.json',
    '{lint,tools,test/clients}/{package.json,requirements.txt}',
    '{tools,test/clients/tours}/*/{package.json,requirements.txt,go.mod,Cargo.toml,pom.xml}',
  ],
  { cwd: root, exclude: ['**/node_modules/**'] },
);

/** The pinned version of a package, or undefined. A Go path may name a program within its module. */
export function pinnedVersion(name: string): string | undefined {
  const plain = RegExp.escape(name.replace(/\/cmd\/.*/, ''));
  const pin = new RegExp(
    `(?:^|[\\s"]|<artifactId>)${plain}(?:": "|==| v| = "=?|</artifactId>\\s*<version>)([\\w.-]+)`,
    'm',
  );
  const texts = files.map(textOf);
  // What another package of Go needs counts only if nothing needs it directly.
  const direct = texts.map((text) => text.replaceAll(/^.*\/\/ indirect$/gm, ''));
  return [...direct, ...texts].map((text) => pin.exec(text)?.[1]).find(Boolean);
}
