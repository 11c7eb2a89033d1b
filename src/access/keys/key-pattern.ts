// Browsers load this module too, so it imports nothing.

/** The form of an API key, without its checksum. */
export const keyInText = /pet_[0-9A-Za-z]{36}/;
export const wholeKey = new RegExp(`^${keyInText.source}$`);

/** The note of a page without a key. The HTML contains it, so that the page does not move when its script starts. */
export const howToGetOne =
  'The service prints an address with a key when it starts. “petstore keys create” creates another key.';
