// What the page has of lit-html.

export { html, nothing, render, svg, type TemplateResult } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { repeat } from 'lit-html/directives/repeat.js';
