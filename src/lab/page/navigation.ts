// Marks the link to the part of the page that is read: the one that was gone to, until the reader scrolls on, or else the first in view.

const links = [...document.querySelectorAll<HTMLAnchorElement>('#parts a')];
const inView = new Set<string>();
/** Parts stand side by side, and the last ones never come to the top: so what was gone to counts, wherever it is then. */
let gone: HTMLAnchorElement | undefined;

function mark(): void {
  const current = gone ?? links.find(({ hash }) => inView.has(hash.slice(1)));
  for (const link of links) {
    if (link === current) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inView.add(target.id);
      else inView.delete(target.id);
    }
    mark();
  },
  // What is just below the header, and not what only shows its last lines.
  { rootMargin: '-15% 0px -60% 0px' },
);

for (const { hash } of links) {
  const part = document.querySelector(hash);
  if (part) observer.observe(part);
}

function go(hash: string): void {
  gone = links.find((link) => link.hash === hash);
  mark();
}

for (const link of links) link.addEventListener('click', () => go(link.hash));
addEventListener('hashchange', () => go(location.hash));
go(location.hash);

const scrollKeys = new Set(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', ' ']);
/** Scrolling by hand, and not by a link or by what has become longer: by wheel, finger, key or scrollbar. */
const isByHand = (event: Event) =>
  event instanceof KeyboardEvent
    ? scrollKeys.has(event.key)
    : event.type !== 'pointerdown' || event.target === document.documentElement;
for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
  addEventListener(
    type,
    (event) => {
      if (gone && isByHand(event)) go('');
    },
    { passive: true },
  );
