// The search of the page. Its index is built from the descriptions when it is opened first.

import { searchIndex } from './search-index.js';

const maxResults = 12;
const snippetLength = 140;

const dialog = document.querySelector('#search');
const input = dialog.querySelector('input');
const list = dialog.querySelector('[role=listbox]');
const note = dialog.querySelector('[role=status]');
let search;
let goTo = () => {};
let results = [];
let selected = 0;

/** Opens or closes the search. `go` leads to the place of a result. */
export async function toggleSearch(go) {
  goTo = go;
  if (dialog.open) {
    dialog.close();
    return;
  }
  dialog.showModal();
  input.select();
  await loadOnce();
  show();
}

let loaded;

function loadOnce() {
  loaded ??= load().catch((error) => {
    loaded = undefined;
    note.textContent = `The search could not be loaded: ${error.message}`;
  });
  return loaded;
}

async function load() {
  note.textContent = 'Loading …';
  const hasLab = document.querySelector('.top a[href="lab"]') !== null;
  search = searchIndex(await Promise.all(['v1', ...(hasLab ? ['lab'] : [])].map(describe)));
}

async function describe(api) {
  const response = await fetch(`${api}/openapi.json`);
  if (!response.ok) throw new Error(`the service responded with ${response.status}.`);
  return response.json();
}

input.addEventListener('input', show);
input.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && results.length > 0) {
    event.preventDefault();
    select((selected + step + results.length) % results.length);
  } else if (event.key === 'Enter' && !event.isComposing && results.length > 0) {
    event.preventDefault();
    choose(results[selected]);
  }
});
list.addEventListener('click', (event) => {
  const option = event.target.closest('[role=option]');
  if (option) choose(results[[...list.children].indexOf(option)]);
});
// A click beside the dialog is one on its backdrop.
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());

function show() {
  if (!search) return;
  const query = input.value.trim();
  results = query ? search(query).slice(0, maxResults) : [];
  list.replaceChildren(...results.map(optionFor));
  list.hidden = results.length === 0;
  note.textContent = !query ? 'Guides, operations and schemas.' : results.length ? '' : 'No results.';
  input.setAttribute('aria-expanded', String(results.length > 0));
  select(0);
}

function select(place) {
  selected = place;
  for (const [i, option] of [...list.children].entries()) {
    option.setAttribute('aria-selected', String(i === place));
    if (i !== place) continue;
    input.setAttribute('aria-activedescendant', option.id);
    option.scrollIntoView({ block: 'nearest' });
  }
  if (results.length === 0) input.removeAttribute('aria-activedescendant');
}

function optionFor(result, i) {
  const option = element('div', { id: `search-result-${i}`, role: 'option' });
  const name = element('span', {});
  name.append(element('strong', {}, result.title));
  if (result.within) name.append(' ', element('span', { class: 'place' }, result.within));
  const kind = result.isDeprecated ? 'Deprecated' : result.kind;
  option.append(name, ' ', element('span', { class: 'kind' }, kind), snippetOf(result));
  return option;
}

/** The text around the first word that was found, which is marked. */
function snippetOf({ text, terms }) {
  const snippet = element('p', {});
  const word = new RegExp(
    `(?<![A-Za-z0-9])(?:${terms.map((term) => term.replaceAll(/\W/g, '\\$&')).join('|')})`,
    'i',
  ).exec(text);
  const from = Math.max(0, text.lastIndexOf(' ', (word?.index ?? 0) - 40));
  const part = `${from > 0 ? '…' : ''}${text.slice(from, from + snippetLength)}`;
  if (!word) {
    snippet.textContent = part;
    return snippet;
  }
  const at = word.index - from + (from > 0 ? 1 : 0);
  const end = at + word[0].length;
  snippet.append(part.slice(0, at), element('mark', {}, part.slice(at, end)), part.slice(end));
  return snippet;
}

function element(name, attributes, text = '') {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.textContent = text;
  return made;
}

function choose({ place }) {
  dialog.close();
  goTo(place);
}
