// The parts of lit-html that the page uses.

import type { nothing, TemplateResult } from 'lit-html';

export { html, nothing, render, svg, type TemplateResult } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { repeat } from 'lit-html/directives/repeat.js';
export { when } from 'lit-html/directives/when.js';

export type View = TemplateResult | typeof nothing;
