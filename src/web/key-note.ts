/** What a page says while it has no key. It stands in the HTML, so that the page does not move when its program starts. */
export const howToGetOne =
  'The service prints an address with a key when it starts; “petstore keys create” makes another.';
