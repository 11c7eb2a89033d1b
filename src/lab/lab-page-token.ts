// The lab's page proves by a token that a request is its own. Recordings mark such requests, and reports leave them out.

/** The header of the page's requests that contains the token. */
export const labPageHeader = 'petstore-lab-page';
/** The name of the `meta` element of the page with the token. */
export const tokenName = 'lab-page-token';
/** Stands for the token in the file of the page. */
export const tokenPlace = '{token}';
