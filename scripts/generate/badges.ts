/** Draws the badges of the README from the code, since no foreign service may be asked: `npm run generate -- badges`. */

import { readFileSync, writeFileSync } from 'node:fs';
import { neededNode } from '../../src/client/needed-node.ts';
import { version } from '../../src/foundation/version.ts';
import { openapiVersions } from '../../src/reference/description/schemas.ts';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const badges = [
  ['Petstore', version],
  ['Node.js', `${atLeast(neededNode)} · clone ${atLeast(engines.node.slice(2))}`],
  ['OpenAPI', openapiVersions.join(' · ')],
] as const;

function atLeast(version: string): string {
  return `≥ ${version}`;
}

const letterWidth = 6.6;
const padding = 8;
const gap = 6;
const height = 20;

let x = 0;
const drawn = badges.map(([name, value]) => {
  const [left, right] = [widthOf(name), widthOf(value)];
  const badge = `<g transform="translate(${x})">
<rect width="${left}" height="${height}" fill="#444c56"/><rect x="${left}" width="${right}" height="${height}" fill="#1f6feb"/>
${textAt(left / 2, name)}
${textAt(left + right / 2, value)}
</g>`;
  x += left + right + gap;
  return badge;
});

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${x - gap}" height="${height}" role="img">
<title>${badges.map((badge) => badge.join(' ')).join(', ')}</title>
<g font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" fill="#fff" text-anchor="middle">
${drawn.join('\n')}
</g>
</svg>
`;

writeFileSync(new URL('../../docs/pictures/badges.svg', import.meta.url), svg);

function widthOf(text: string): number {
  return Math.round(text.length * letterWidth) + 2 * padding;
}

/** The length is stated, so that other fonts fit too. */
function textAt(middle: number, text: string): string {
  return `<text x="${middle}" y="14" textLength="${Math.round(text.length * letterWidth)}">${text}</text>`;
}
