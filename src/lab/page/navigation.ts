// The tabs, and the drawer with the faults. The address behind # names the open one.

const tabs = [...document.querySelectorAll<HTMLElement>('[role=tab]')];
const faults = document.querySelector('#faults') as HTMLElement;
const drawer = document.querySelector('#drawer') as HTMLElement;

const panelOf = (tab: HTMLElement) => tab.getAttribute('aria-controls') as string;

export function showTab(name: string): void {
  for (const tab of tabs) {
    const isShown = panelOf(tab) === name;
    tab.ariaSelected = String(isShown);
    tab.tabIndex = isShown ? 0 : -1;
    (document.getElementById(panelOf(tab)) as HTMLElement).hidden = !isShown;
  }
}

function toggleDrawer(isOpen: boolean): void {
  faults.hidden = !isOpen;
  drawer.ariaExpanded = String(isOpen);
}

function go(): HTMLElement | undefined {
  const name = location.hash.slice(1);
  const tab = tabs.find((tab) => panelOf(tab) === name);
  if (name === faults.id) toggleDrawer(true);
  if (tab) showTab(name);
  return tab;
}

function choose(tab: HTMLElement): void {
  showTab(panelOf(tab));
  history.replaceState(history.state, '', `#${panelOf(tab)}`);
}

/** The tab to which a key leads from the one at `index`. */
const next: Record<string, (index: number) => number> = {
  ArrowLeft: (index) => index - 1,
  ArrowRight: (index) => (index + 1) % tabs.length,
  Home: () => 0,
  End: () => -1,
};

for (const [index, tab] of tabs.entries()) {
  tab.addEventListener('click', () => choose(tab));
  tab.addEventListener('keydown', (event) => {
    const other = next[event.key] && tabs.at(next[event.key]?.(index) as number);
    if (!other) return;
    event.preventDefault();
    choose(other);
    other.focus();
  });
}
drawer.addEventListener('click', () => toggleDrawer(drawer.ariaExpanded !== 'true'));
faults.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  toggleDrawer(false);
  drawer.focus();
});
// The focus may be in a panel that is hidden now.
addEventListener('hashchange', () => go()?.focus());
go();
