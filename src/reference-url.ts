/** The address of the reference for an API at `baseUrl`, also behind a proxy with a prefix. */
export const referenceUrl = (baseUrl: string) => baseUrl.replace(/v1$/, 'reference');

/** The same with a key for the page, behind `#`, so that a browser does not send it (RFC 9110, section 7.1). */
export const referenceUrlWithKey = (baseUrl: string, key: string) => `${referenceUrl(baseUrl)}#key=${key}`;

/** The address of the lab's page with a key, in the same way. */
export const labPageUrlWithKey = (baseUrl: string, key: string) =>
  `${baseUrl.replace(/v1$/, 'lab')}#key=${key}`;
