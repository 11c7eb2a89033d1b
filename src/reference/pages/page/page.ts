// Shows the static pages of the reference in place, one at a time, and adds what needs a program: a console, and the search.

// The key first, so that it is removed from the address as soon as possible.
import '../../../access/keys/browser-key.ts';
import { consoleFor } from './console.ts';
import { element } from './element.ts';
import { toggleSearch } from './search.ts';

const home = new URL('reference', location.href);
const main = document.querySelector('main') as HTMLElement;
const start = { title: document.title, content: [...main.childNodes] };
/** The links to operations, by method and path. */
const operations = new Map(
  [...main.querySelectorAll('.operations tr')].map((row) => [
    row.querySelector('code')?.textContent,
    row.querySelector('a')?.href as string,
  ]),
);
/** The paths of static pages, below that of this one. */
const pages = /^(?:operations|guides|schemas|errors)(?:\/[\w-]+)?$/;
let shown: string | undefined = '';

addEventListener('popstate', show);
addEventListener('scrollend', keepScroll);
document.addEventListener('click', follow);
document.querySelector('#search-open')?.addEventListener('click', () => toggleSearch(goTo));
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  void toggleSearch(goTo);
});

/** The place of a page in the address of this one, behind `#`: its path, and the id of its section. Undefined for other pages. */
function placeOf({ origin, pathname, hash }: URL): string | undefined {
  if (origin !== home.origin) return undefined;
  if (pathname === home.pathname) return hash.slice(1);
  const path = pathname.slice(home.pathname.length + 1);
  return pathname.startsWith(`${home.pathname}/`) && pages.test(path)
    ? path + hash.replace('#', '/')
    : undefined;
}

/** Links to static pages lead to places in this one, which has the key. */
async function follow(event: MouseEvent): Promise<void> {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href]');
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.getAttribute('href')?.startsWith('#')) {
    // The address keeps its place.
    event.preventDefault();
    const target = document.getElementById(link.hash.slice(1));
    target?.scrollIntoView();
    target?.focus();
    return;
  }
  const place = placeOf(new URL(link.href));
  if (place === undefined) return;
  event.preventDefault();
  const offer = link.closest('.try');
  if (offer) await openConsole(offer);
  else await goTo(place);
}

async function goTo(place: string): Promise<void> {
  keepScroll();
  history.pushState(null, '', place ? `#${place}` : home.pathname);
  await show();
  main.focus({ preventScroll: true });
}

/** Saves the scroll position in the history entry, for when the reader comes back. */
function keepScroll(): void {
  history.replaceState({ scrollY }, '');
}

/** The place of the address. Older links begin with `tag/`: to guides and their sections, and to operations by method and path. */
function currentPlace(): string {
  const place = location.hash.slice(1);
  const [, tag, section = ''] = /^tag\/([\w-]+)(\/.*)?$/.exec(place) ?? [];
  if (!tag) return place;
  const [, method, path] = /^\/([A-Z]+)(\/.*)$/.exec(section) ?? [];
  const operation = operations.get(`${method} /v1${path}`) ?? operations.get(`${method} /lab${path}`);
  if (operation) return placeOf(new URL(operation)) ?? place;
  const guide = `guides/${tag}`;
  return document.querySelector(`#contents a[href$="/${guide}"]`) ? guide + section : 'operations';
}

async function show(): Promise<void> {
  const place = currentPlace();
  // A scroll that ends while a page loads belongs to the previous page.
  const kept: { scrollY: number } | null = history.state;
  const parts = place.split('/');
  const page = parts.splice(0, parts[0] === 'schemas' ? 1 : 2).join('/');
  if (page !== shown) {
    const content: Content = page ? await load(page) : start;
    // The reader may have gone elsewhere meanwhile.
    if (currentPlace() !== place) return;
    shown = content.hasFailed ? undefined : page;
    document.title = content.title;
    main.replaceChildren(...content.content);
    // Only secure pages may write to the clipboard.
    if (navigator.clipboard) for (const program of main.querySelectorAll('pre')) offerCopy(program);
    markCurrent(page);
  }
  const section = parts[0] && document.getElementById(parts[0]);
  if (kept) scrollTo(0, kept.scrollY);
  else if (section) section.scrollIntoView();
  else scrollTo(0, 0);
}

interface Content {
  title: string;
  content: ChildNode[];
  /** Whether a message replaces the page. */
  hasFailed?: boolean;
}

/** Title and content of a static page. Its links lead to the same places from here. */
async function load(page: string): Promise<Content> {
  const address = `${home.href}/${page}`;
  try {
    if (!pages.test(page)) throw new Error('There is no such page.');
    const response = await fetch(address);
    if (!response.ok) throw new Error(`The service responded with ${response.status}.`);
    const { title, body } = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const link of body.querySelectorAll<HTMLAnchorElement>('main a[href]'))
      link.href = new URL(link.getAttribute('href') as string, address).href;
    return { title, content: [...(body.querySelector('main')?.childNodes ?? [])] };
  } catch (error) {
    const problem = note(`This page could not be loaded: ${(error as Error).message}`);
    return { title: start.title, content: [problem], hasFailed: true };
  }
}

function markCurrent(page: string): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#contents a')) {
    if (placeOf(new URL(link.href)) !== page) link.removeAttribute('aria-current');
    else {
      link.setAttribute('aria-current', 'page');
      link.scrollIntoView({ block: 'nearest' });
    }
  }
}

function offerCopy(program: HTMLElement): void {
  const button = element('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(program.textContent);
    button.textContent = 'Copied';
  });
  const place = element('div', { class: 'program' });
  program.replaceWith(place);
  place.append(program, button);
}

async function openConsole(offer: Element): Promise<void> {
  const { operation = '', description = '' } = offer.closest('article')?.dataset ?? {};
  try {
    const form = await consoleFor(operation, description);
    offer.replaceWith(form);
    form.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
  } catch (error) {
    offer.after(note(`The form could not be loaded: ${(error as Error).message}`));
  }
}

const note = (text: string): HTMLElement => element('p', { role: 'status' }, text);

// Last, because it may need everything above.
if (location.hash) await show();
