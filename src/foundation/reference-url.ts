/** The address of the reference of an API at `baseUrl`, also behind a proxy with a prefix. */
export const referenceUrl = (baseUrl: string) => baseUrl.replace(/v1$/, 'reference');

/** The reference has a page for each error code below this URL. */
export const errorPagesUrl = (baseUrl: string) => `${referenceUrl(baseUrl)}/errors`;

/** The reference with a key for the page. The key comes after `#`, so a browser does not send it (RFC 9110, section 7.1). */
export const referenceUrlWithKey = (baseUrl: string, key: string) => `${referenceUrl(baseUrl)}#key=${key}`;

/** The address of the lab's page, with a key behind `#`. */
export const labPageUrlWithKey = (baseUrl: string, key: string) =>
  `${baseUrl.replace(/v1$/, 'lab')}#key=${key}`;
