// The search of the page. Its index is built from the descriptions when it is opened first.

import { loadDescription } from './console.ts';
import { element } from './element.ts';
import { type Result, type Search, searchIndex } from './search-index.ts';

const maxResults = 12;
const snippetLength = 140;

const dialog = document.querySelector('#search') as HTMLDialogElement;
const input = dialog.querySelector('input') as HTMLInputElement;
const list = dialog.querySelector('[role=listbox]') as HTMLElement;
const note = dialog.querySelector('[role=status]') as HTMLElement;
let search: Search | undefined;
let goTo = (_place: string): unknown => undefined;
let results: Result[] = [];
let selected = 0;

/** Opens or closes the search. `go` leads to the place of a result. */
export async function toggleSearch(go: (place: string) => unknown): Promise<void> {
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

let loaded: Promise<void> | undefined;

function loadOnce(): Promise<void> {
  loaded ??= load().catch((error) => {
    loaded = undefined;
    note.textContent = `The search could not be loaded: ${error.message}`;
  });
  return loaded;
}

async function load(): Promise<void> {
  note.textContent = 'Loading …';
  const hasLab = document.querySelector('.top a[href="lab"]') !== null;
  const paths = ['v1/openapi.json', 'accounts/openapi.json', ...(hasLab ? ['lab/openapi.json'] : [])];
  search = searchIndex(await Promise.all(paths.map(loadDescription)));
}

input.addEventListener('input', show);
input.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && results.length > 0) {
    event.preventDefault();
    select((selected + step + results.length) % results.length);
  } else if (event.key === 'Enter' && !event.isComposing && results.length > 0) {
    event.preventDefault();
    choose(selected);
  }
});
list.addEventListener('click', ({ target }) => {
  const option = (target as Element).closest('[role=option]');
  if (option) choose([...list.children].indexOf(option));
});
// A click beside the dialog is one on its backdrop.
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());

function show(): void {
  if (!search) return;
  const query = input.value.trim();
  results = query ? search(query).slice(0, maxResults) : [];
  list.replaceChildren(...results.map(optionFor));
  list.hidden = results.length === 0;
  note.textContent = !query ? 'Guides, operations and schemas.' : results.length ? '' : 'No results.';
  input.setAttribute('aria-expanded', String(results.length > 0));
  select(0);
}

function select(place: number): void {
  selected = place;
  for (const [i, option] of [...list.children].entries()) {
    option.setAttribute('aria-selected', String(i === place));
    if (i !== place) continue;
    input.setAttribute('aria-activedescendant', option.id);
    option.scrollIntoView({ block: 'nearest' });
  }
  if (results.length === 0) input.removeAttribute('aria-activedescendant');
}

function optionFor(result: Result, i: number): HTMLElement {
  const { title, within, kind, isDeprecated } = result;
  return element(
    'div',
    { id: `search-result-${i}`, role: 'option' },
    element(
      'span',
      {},
      element('strong', {}, title),
      ...(within ? [' ', element('span', { class: 'place' }, within)] : []),
    ),
    ' ',
    element('span', { class: 'kind' }, isDeprecated ? 'Deprecated' : kind),
    element('p', {}, ...snippetOf(result)),
  );
}

/** The text around the first word that was found, which is marked. */
function snippetOf({ text, terms }: Result): (string | Node)[] {
  const found = terms.map((term) => term.replaceAll(/\W/g, '\\$&')).join('|');
  const word = new RegExp(`(?<![A-Za-z0-9])(?:${found})`, 'i').exec(text);
  const from = Math.max(0, text.lastIndexOf(' ', (word?.index ?? 0) - 40));
  const part = `${from > 0 ? '…' : ''}${text.slice(from, from + snippetLength)}`;
  if (!word) return [part];
  const at = word.index - from + (from > 0 ? 1 : 0);
  const end = at + word[0].length;
  return [part.slice(0, at), element('mark', {}, part.slice(at, end)), part.slice(end)];
}

function choose(index: number): void {
  dialog.close();
  goTo((results[index] as Result).place);
}
