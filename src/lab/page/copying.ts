/** Puts a text into the clipboard. False where the page may not: browsers allow it to pages of https and of this machine alone. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Puts a text into the clipboard, or selects the element that shows it, for the reader to copy. Returns what to say. */
export async function copiedOrSelected(text: string, shown: Element | null): Promise<string> {
  if (await copied(text)) return 'Copied.';
  if (shown) getSelection()?.selectAllChildren(shown);
  return 'The browser keeps this page from copying. It is selected: copy it with the keyboard.';
}

/** Saves a text as a file of the reader. */
export function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
