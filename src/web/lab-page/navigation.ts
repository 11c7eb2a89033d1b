// Marks the link to the part that the user reads: the one they followed, until they scroll, or else the first in view.

const links = [...document.querySelectorAll<HTMLAnchorElement>('#parts a')];
const inView = new Set<string>();
/** The link that the user followed. It counts wherever its part is, since the last parts never reach the top. */
let followed: HTMLAnchorElement | undefined;

function mark(): void {
  const current = followed ?? links.find(({ hash }) => inView.has(hash.slice(1)));
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
  // The area just below the header, so that a part with only its last lines in view does not count.
  { rootMargin: '-15% 0px -60% 0px' },
);

for (const { hash } of links) {
  const part = document.querySelector(hash);
  if (part) observer.observe(part);
}

function go(hash: string): void {
  followed = links.find((link) => link.hash === hash);
  mark();
}

for (const link of links) link.addEventListener('click', () => go(link.hash));
addEventListener('hashchange', () => go(location.hash));
go(location.hash);

const scrollKeys = new Set(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', ' ']);
/** Scrolling by wheel, finger, key or scrollbar, not by a link or by a part that grows. */
const isByHand = (event: Event) =>
  event instanceof KeyboardEvent
    ? scrollKeys.has(event.key)
    : event.type !== 'pointerdown' || event.target === document.documentElement;
for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
  addEventListener(
    type,
    (event) => {
      if (followed && isByHand(event)) go('');
    },
    { passive: true },
  );
