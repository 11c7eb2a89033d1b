import { guard } from 'lit-html/directives/guard.js';
import type { Int64 } from '../../client/index.ts';
import { html, type TemplateResult } from './template.ts';

const fur = ['#d39a55', '#8f98a3', '#b86f47', '#e2c999', '#77727a', '#a8896c'];
const bright = ['#e58a3c', '#4e9fc9', '#6fae5d', '#d9b23d', '#d06a7c', '#3fa79a'];
/** Each drawing contains this many markings. pet-drawing.css shows one. */
const markings = 4;

interface Kind {
  name: RegExp;
  /** The names of files in pets/. The id of the pet chooses one. */
  drawings: readonly string[];
  coats: readonly string[];
}

const kinds: readonly Kind[] = [
  { name: /\b(dog|hound|pup)/i, drawings: ['dog'], coats: fur },
  { name: /\b(cats?\b|kitten)/i, drawings: ['cat'], coats: fur },
  { name: /\b(bird|parrot)/i, drawings: ['bird'], coats: bright },
  { name: /fish\b/i, drawings: ['fish'], coats: bright },
  { name: /\b(rabbit|rodent)/i, drawings: ['rabbit', 'mouse'], coats: fur },
  { name: /\b(reptile|dragon)/i, drawings: ['lizard', 'turtle'], coats: bright },
  { name: /\b(amphibian|frog)/i, drawings: ['frog'], coats: bright },
];
const anyKind: Kind = { name: /^/, drawings: ['paw'], coats: bright };

/** A drawing of a pet. Pets with neighboring ids look different. */
export function drawingOf(category: string, petId: Int64): TemplateResult {
  const { drawings, coats } = kinds.find(({ name }) => name.test(category)) ?? anyKind;
  const turn = Number(BigInt(petId) % BigInt(coats.length * markings * drawings.length));
  const marking = (turn + Math.floor(turn / coats.length)) % markings;
  const drawing = drawings[turn % drawings.length];
  return html`<svg class="drawing marking-${marking}" color=${coats[turn % coats.length]} viewBox="0 0 64 64" aria-hidden="true">
    ${guard([drawing], () => copyOf(drawing))}
  </svg>`;
}

/** The service puts each drawing into a template of the page. */
const copyOf = (drawing = '') =>
  document.querySelector<HTMLTemplateElement>(`#pet-${drawing}`)?.content.cloneNode(true);
