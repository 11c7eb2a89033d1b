// The lab's page proves by a token that it sends a request for itself. Recordings mark such requests, and reports leave them out.

/** The header with the token, the name of the page's `meta` element with it, and its place in the file of the page. */
export const labPageHeader = 'petstore-lab-page';
export const tokenName = 'lab-page-token';
export const tokenPlace = '{token}';
