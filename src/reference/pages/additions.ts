import { howToGetOne } from '../../access/keys/key-pattern.ts';
import type { Additions } from './layout.ts';

/** The markup that only the interactive reference has. */
export const additions: Additions = {
  head: `<link rel="stylesheet" href="reference/interactive.css">
<link rel="alternate" href="llms.txt" type="text/plain" title="An overview for programs">
<script src="reference/page.js" type="module"></script>
`,
  header: `<button id="search-open" type="button" aria-keyshortcuts="Control+K Meta+K">Search <kbd>Ctrl K</kbd></button>
<div id="key">
<form>
<label for="key-input">API key</label>
<input id="key-input" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-note">
<button type="submit">Use key</button>
</form>
<div id="key-in-use" hidden>
<span>API key <code></code></span>
<button type="button">Forget key</button>
</div>
<p id="key-note" role="status">${howToGetOne}</p>
</div>
`,
  body: `<dialog id="search" aria-label="Search the reference" closedby="any">
<input type="search" role="combobox" aria-label="Search" aria-controls="search-results" aria-expanded="false" aria-autocomplete="list" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Search, such as “429” or “createPet”">
<div id="search-results" role="listbox" aria-label="Results" hidden></div>
<p role="status"></p>
</dialog>
`,
};
