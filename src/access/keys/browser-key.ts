// The API key of this tab. It comes from the address behind #, which a browser does not send, or the user enters it.

import { howToGetOne, keyInText, wholeKey } from './key-pattern.ts';

const storedAs = 'petstore-key';
const shape = 'A key is pet_ followed by 36 letters and digits.';
/** Follows each note while a key is in use, where there is room. */
const kept = Object.assign(document.createElement('span'), {
  className: 'kept',
  textContent: ' This tab sends the key until you close the tab.',
});

const part = <E extends HTMLElement>(selector: string) => document.querySelector(`#key${selector}`) as E;
const header = part('');
const form = part<HTMLFormElement>(' form');
const input = part<HTMLInputElement>('-input');
const inUse = part('-in-use');
const forget = part<HTMLButtonElement>('-in-use button');
const note = part('-note');
let listener = (_key: string): void => {};

/** The key of this tab, or an empty string. */
export const currentKey = () => sessionStorage.getItem(storedAs) ?? '';

/** Calls `listen` with the key whenever it changes. */
export function onKeyChange(listen: (key: string) => void): void {
  listener = listen;
}

show(currentKey() ? '' : howToGetOne);
takeFromAddress();
// The page handles `popstate`, and must not see the key.
for (const event of ['popstate', 'hashchange']) addEventListener(event, takeFromAddress);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = input.value.trim();
  if (wholeKey.test(text)) {
    useKey(text, '');
    forget.focus();
  } else {
    show(`This is not a key. ${shape}`, true);
    input.select();
  }
});

forget.addEventListener('click', () => {
  useKey('', howToGetOne);
  input.focus();
});

// Sticky parts below the header need its height.
const top = header.closest('header') as HTMLElement;
new ResizeObserver(() => {
  document.documentElement.style.setProperty('--header-height', `${top.offsetHeight}px`);
}).observe(top);

/**
 * Removes each `key=…` and everything that looks like a key from the address. The other parts between `&` stay: they are a place in the
 * page. Anyone can create such an address, so the page says where its key came from and which key it replaced.
 */
function takeFromAddress(): void {
  const parts = decodedOnce(location.hash.slice(1)).split('&');
  const isSecret = (part: string) => part.startsWith('key=') || keyInText.test(part);
  if (!parts.some(isSecret)) return;
  const address = new URL(location.href);
  address.hash = parts.filter((part) => !isSecret(part)).join('&');
  history.replaceState(history.state, '', address);
  const previous = currentKey();
  const key = parts.map((part) => part.replace(/^key=/, '')).find((text) => wholeKey.test(text));
  if (key === undefined) {
    show(`The address contains no valid key. ${shape}`);
  } else if (key !== previous) {
    const before = previous && ` (previous key: ${start(previous)})`;
    useKey(key, `It came with the address${before}.`);
  }
}

/** Decodes ASCII alone, which cannot be malformed. Some programs encode links. */
function decodedOnce(text: string): string {
  return text.replaceAll(/%([0-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Replaces the key of this tab, and says why. */
export function useKey(key: string, text: string): void {
  if (key) sessionStorage.setItem(storedAs, key);
  else sessionStorage.removeItem(storedAs);
  input.value = '';
  show(text);
  listener(key);
}

function show(text: string, isRefusal = false): void {
  const key = currentKey();
  header.hidden = false;
  input.setAttribute('aria-invalid', String(isRefusal));
  form.hidden = key !== '';
  inUse.hidden = key === '';
  part('-in-use code').textContent = start(key);
  note.replaceChildren(text, ...(key ? [kept] : []));
}

/** Enough of a key to recognize it. */
function start(key: string): string {
  return `${key.slice(0, 8)}…`;
}
