import { html, nothing } from './template.ts';

/** The result of copying: a message, and the text itself if the browser refused the clipboard. */
export interface Copying {
  message: string;
  text?: string;
}

/** Copies a text to the clipboard. Returns false if the browser refuses: it allows pages of HTTPS and localhost only. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a text, or else selects the element that shows it. Returns a message for the user. */
export async function copiedOrSelected(text: string, shown: Element | null): Promise<string> {
  if (await copied(text)) return 'Copied.';
  if (shown) getSelection()?.selectAllChildren(shown);
  return 'The browser does not let this page copy. The text is selected: copy it with the keyboard.';
}

/** A text for the user to copy, if the browser refused the clipboard. */
export const drawCopy = (copying: Copying | undefined) =>
  copying?.text === undefined
    ? nothing
    : html`<textarea class="to-copy" readonly rows="6" aria-label="Text to copy" .value=${copying.text}></textarea>`;

/** Saves a text as a download. */
export function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
