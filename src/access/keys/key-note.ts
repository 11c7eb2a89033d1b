/** The note of a page without a key. The HTML contains it, so that the page does not move when its script starts. */
export const howToGetOne =
  'The service prints an address with a key when it starts. “petstore keys create” creates another key.';
