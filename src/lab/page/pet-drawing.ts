import type { Int64 } from '../../client/index.ts';
import { html, nothing, svg, type TemplateResult } from './template.ts';

type Shapes = TemplateResult | typeof nothing;

/** Draws an animal in a square of 64. `marking` is one of four. */
type Draw = (marking: number) => Shapes;

/** The number of coats in pet-drawing.css. */
const coats = 6;
const markings = 4;

// c: coat, m: marking, p: pale, k: ink, l: a line of ink.
const eyes = (y: number, left = 24, right = 40) =>
  [left, right].map(
    (x) =>
      svg`<circle class="k" cx=${x} cy=${y} r="2.5" /><circle class="w" cx=${x + 0.8} cy=${y - 0.8} r="0.8" />`,
  );

const spots = (...places: [number, number, number][]) =>
  places.map(([x, y, r]) => svg`<circle class="m" cx=${x} cy=${y} r=${r} />`);

const stripes = (path: string) => svg`<path class="s" d=${path} />`;

const dog: Draw = (marking) => svg`
  <path class="c" d="M32 12c11 0 18 8 18 20 0 13-8 23-18 23S14 45 14 32c0-12 7-20 18-20z" />
  ${
    [
      nothing,
      svg`<ellipse class="m" cx="40" cy="29" rx="7" ry="8" />`,
      svg`<path class="p" d="M32 12c4 8 4 18 2 26h-4c-2-8-2-18 2-26z" />`,
      spots([24, 20, 2.5], [30, 17, 1.8], [41, 21, 2.8]),
    ][marking]
  }
  <path class="m" d="M20 15C9 13 5 25 8 37c1 5 7 6 9 1 2-6 1-13 5-20z" />
  <path class="m" d="M44 15c11-2 15 10 12 22-1 5-7 6-9 1-2-6-1-13-5-20z" />
  <ellipse class="p" cx="32" cy="45" rx="10" ry="8" />
  <path class="k" d="M27.5 39.5c0-4 9-4 9 0 0 2.5-3 4-4.5 4s-4.5-1.5-4.5-4z" />
  <path class="l" d="M32 43v3.5m0 0q-3 3.5-6 1m6-1q3 3.5 6 1" />
  ${eyes(30)}`;

const cat: Draw = (marking) => svg`
  <path class="c" d="M12 33 13.5 11q.5-3 3-1L26 17q6-1.5 12 0l9.5-7q2.5-2 3 1L52 33c0 13-8 21-20 21S12 46 12 33z" />
  <path class="m" d="M17 22l.8-7 5.7 4zM47 22l-.8-7-5.7 4z" />
  ${
    [
      stripes('M32 17.5v7m-5-6.5 1.5 5.5m8.5-5.5-1.5 5.5'),
      svg`<path class="p" d="M32 26c8 8 15 12 17 14-3 9-9 14-17 14S18 49 15 40c2-2 9-6 17-14z" />`,
      svg`<path class="m" d="M32 16.3c5-.6 8 .5 9 1.2l6.5-5q2-1 2.3 1L51.5 31c-7 4-15 3-19.5-6z" />`,
      stripes('M13 36h6m-5.5 5 5.5-1.5M51 36h-6m5.5 5-5.5-1.5'),
    ][marking]
  }
  <path class="k" d="M29.5 39h5L32 42z" />
  <path class="l" d="M32 42v1.5m0 0q-3 3.5-6 1m6-1q3 3.5 6 1" />
  <path class="l thin" d="M20 41 7 39m13 5L8 47m36-6 13-2m-13 5 12 3" />
  ${eyes(33)}`;

const bird: Draw = (marking) => svg`
  <path class="l" d="M29 50v7m-3 0h6m4-8v8m-3 0h6" />
  <path class="m" d="M18 38 3 47l3-9-4-5z" />
  <path class="c" d="M39 10c9 0 14 6 14 14 0 16-7 28-20 28-12 0-19-7-19-15 0-7 7-10 12-13 3-8 5-14 13-14z" />
  ${
    [
      nothing,
      svg`<path class="p" d="M52 30c-2 13-8 22-18 22-5 0-9-1-12-3 12 2 24-5 30-19z" />`,
      svg`<path class="m" d="M36 10.5c8-2.5 16 3 17 10-6 0-13-3-17-10z" />`,
      svg`<path class="m" d="M38 11c-1-4 1-7 4-8 0 3 2 5 1 8z" /><path class="m" d="M42 11c1-3 3-5 6-5-1 3-1 5-3 7z" />`,
    ][marking]
  }
  <path class="m" d="M18 35c5-6 14-8 20-4-1 8-7 13-14 12-3-1-5-4-6-8z" />
  <path class="y" d="M52 19l9 4.5-9 3.5z" />
  <circle class="k" cx="44" cy="21" r="2.5" /><circle class="w" cx="44.8" cy="20.2" r=".8" />`;

const fish: Draw = (marking) => svg`
  <path class="m" d="M24 21c4-9 14-11 22-8-2 3-3 6-3 9zM29 44c2 5 7 8 12 8 0-4 0-6-1-9z" />
  <path class="m" d="M16 32 4 20c-1 8-1 16 0 24z" />
  <path class="c" d="M12 32c7-11 17-14 26-14 12 0 20 6 22 14-2 8-10 14-22 14-9 0-19-3-26-14z" />
  ${
    [
      svg`<path class="p" d="M38 18.2q5 13.8 0 27.6h-6q5-13.8 0-27.3zM25 21.5q5 11 0 21l-5-3q3-7 0-15z" />`,
      spots([30, 27, 2.2], [37, 33, 2.2], [28, 36, 2], [36, 24, 1.6], [22, 32, 1.8]),
      svg`<path class="p" d="M14 35c14 4 30 5 45 0-3 7-11 11-21 11-9 0-18-3-24-11z" />`,
      stripes('M20 28q8 4 20 3M19 34q9 4 20 2'),
    ][marking]
  }
  <path class="l" d="M46 23q-5 9 0 18M59 36q-3 2-6 1" />
  <circle class="w" cx="52" cy="28" r="3.6" /><circle class="k" cx="52.5" cy="28" r="2.2" />
  <g class="b"><circle cx="60" cy="17" r="2" /><circle cx="56" cy="10" r="1.4" /></g>`;

const rodent =
  (ears: Shapes): Draw =>
  (marking) =>
    svg`
  ${ears}
  <path class="c" d="M32 22c11 0 18 7 18 17s-7 17-18 17-18-7-18-17 7-17 18-17z" />
  ${
    [
      nothing,
      svg`<path class="p" d="M32 22c3 6 3 14 2 20h-4c-1-6-1-14 2-20z" />`,
      svg`<ellipse class="m" cx="41" cy="36" rx="6" ry="7" />`,
      spots([26, 28, 2.2], [38, 27, 2.6], [32, 25, 1.6]),
    ][marking]
  }
  <ellipse class="p" cx="27" cy="47" rx="6" ry="5" /><ellipse class="p" cx="37" cy="47" rx="6" ry="5" />
  <path class="w" d="M30 50h4v4.5h-4z" />
  <path class="n" d="M29.5 42.5h5L32 45.5z" />
  <path class="l thin" d="M22 46 10 44m12 5-11 2m31-5 12-2m-12 5 11 2" />
  ${eyes(37)}`;

const rabbit = rodent(svg`
  <path class="c" d="M26 27C17 21 15 5 21 4s10 12 9 21zM38 27c9-6 11-22 5-23s-10 12-9 21z" />
  <path class="n" d="M25 22c-4-5-5-13-3-13s5 6 5 13zM39 22c4-5 5-13 3-13s-5 6-5 13z" />`);
const mouse = rodent(svg`
  <circle class="c" cx="17" cy="22" r="9" /><circle class="c" cx="47" cy="22" r="9" />
  <circle class="n" cx="17" cy="22" r="5" /><circle class="n" cx="47" cy="22" r="5" />`);

const turtle: Draw = (marking) => svg`
  <path class="p" d="M46 36c2-7 5-11 10-11 4 0 6 3 6 7 0 5-6 10-14 12zM14 42h9v10q0 2-2 2h-5q-2 0-2-2zM37 42h9v10q0 2-2 2h-5q-2 0-2-2zM10 42 2 46q4 3 10 2z" />
  <path class="c" d="M8 45C8 28 17 18 29 18s21 10 21 27q-21 5-42 0z" />
  ${
    [
      stripes('M22 20q-4 12-3 26m17-26q4 12 3 26M11 33q18 5 36 0'),
      spots([29, 27, 4.5], [19, 35, 3.5], [39, 35, 3.5], [29, 39, 3.5]),
      stripes('M29 19v28M13 30l32 10M45 30 13 40'),
      svg`<path class="m" d="M23 28h12l5 8-5 7H23l-5-7z" />`,
    ][marking]
  }
  <path class="m" d="M6 44q23 5 46 0v3q-23 5-46 0z" />
  <circle class="k" cx="56" cy="31" r="2" /><path class="l" d="M61 36q-3 2-5 1" />`;

const lizard: Draw = (marking) => svg`
  <path class="t" d="M20 43C8 50 3 40 8 35s10 0 7 4" />
  <path class="p" d="M22 46l-3 8h6l4-7zM38 45l-1 9h6l3-10z" />
  <path class="m" d="M20 32l3-6 4 4 3-7 4 5 4-7 3 6 5-5 2 6z" />
  <path class="c" d="M17 42c2-10 12-14 24-14 1-6 5-10 11-10 6 0 10 4 10 9 0 6-6 9-12 10-2 8-8 11-18 11-8 0-14-2-15-6z" />
  ${
    [
      spots([28, 36, 2.2], [36, 34, 2.2], [33, 41, 1.8], [24, 41, 1.8]),
      stripes('M24 34v9m6-11v13m6-14v14'),
      svg`<path class="p" d="M20 46c8 1 20 0 27-7-2 7-8 9-16 9-5 0-9-1-11-2z" />`,
      stripes('M20 40q14-7 26-3'),
    ][marking]
  }
  <circle class="w" cx="53" cy="24" r="3" /><circle class="k" cx="53.5" cy="24" r="1.7" />
  <path class="l" d="M61 29q-4 2-8 1.5" />`;

const frog: Draw = (marking) => svg`
  <path class="m" d="M10 54c-5-6-3-14 4-16l4 16zM54 54c5-6 3-14-4-16l-4 16z" />
  <circle class="c" cx="20" cy="20" r="9" /><circle class="c" cx="44" cy="20" r="9" />
  <path class="c" d="M32 20c14 0 22 8 22 19 0 10-9 16-22 16s-22-6-22-16c0-11 8-19 22-19z" />
  ${
    [
      nothing,
      spots([32, 25, 2.4], [24, 30, 1.8], [41, 30, 2], [14, 38, 1.8], [50, 38, 1.8]),
      stripes('M32 21v12m-6-11v8m12-8v8'),
      svg`<path class="p" d="M15 46c6 4 28 4 34 0-3 6-9 9-17 9s-14-3-17-9z" />`,
    ][marking]
  }
  <circle class="w" cx="20" cy="19" r="5.5" /><circle class="w" cx="44" cy="19" r="5.5" />
  <ellipse class="k" cx="20" cy="19.5" rx="3" ry="2.4" /><ellipse class="k" cx="44" cy="19.5" rx="3" ry="2.4" />
  <path class="l" d="M18 39q14 9 28 0" />`;

const paw: Draw = (marking) => svg`
  <path class="c" d="M32 32c8 0 16 9 16 16 0 6-5 8-9 6.5q-7-2.5-14 0C21 56 16 54 16 48c0-7 8-16 16-16z" />
  <ellipse class="c" cx="12.5" cy="32" rx="5" ry="7" transform="rotate(-20 12.5 32)" />
  <ellipse class="c" cx="24.5" cy="19" rx="5.5" ry="8" transform="rotate(-6 24.5 19)" />
  <ellipse class="c" cx="39.5" cy="19" rx="5.5" ry="8" transform="rotate(6 39.5 19)" />
  <ellipse class="c" cx="51.5" cy="32" rx="5" ry="7" transform="rotate(20 51.5 32)" />
  ${
    [
      nothing,
      svg`<path class="m" d="M32 38c5 0 9 5 9 9q0 4-4 3-5-1.5-10 0-4 1-4-3c0-4 4-9 9-9z" />`,
      stripes('M26 40v11m6-13v12m6-10v11'),
      spots([28, 44, 2.4], [36, 43, 2.4], [32, 49, 2]),
    ][marking]
  }`;

interface Kind {
  name: RegExp;
  /** The id of the pet chooses one. */
  draws: readonly [Draw, ...Draw[]];
  isFurry?: true;
}

/** The animals of a category, by its name. */
const kinds: readonly Kind[] = [
  { name: /\b(dog|hound|pup)/i, draws: [dog], isFurry: true },
  { name: /\b(cats?\b|kitten)/i, draws: [cat], isFurry: true },
  { name: /\b(bird|parrot)/i, draws: [bird] },
  { name: /fish\b/i, draws: [fish] },
  { name: /\b(rabbit|rodent)/i, draws: [rabbit, mouse], isFurry: true },
  { name: /\b(reptile|dragon)/i, draws: [lizard, turtle] },
  { name: /\b(amphibian|frog)/i, draws: [frog] },
];
const anyKind: Kind = { name: /^/, draws: [paw] };

/** A drawing of a pet. Pets with neighboring ids look different. */
export function drawingOf(category: string, petId: Int64): TemplateResult {
  const { draws, isFurry } = kinds.find(({ name }) => name.test(category)) ?? anyKind;
  const turn = Number(BigInt(petId) % BigInt(coats * markings * draws.length));
  const draw = draws[turn % draws.length] as Draw;
  const coat = turn % coats;
  const marking = (turn + Math.floor(turn / coats)) % markings;
  return html`<svg class="drawing ${isFurry ? 'fur' : 'bright'}-${coat}" viewBox="0 0 64 64" aria-hidden="true">
    ${draw(marking)}
  </svg>`;
}
