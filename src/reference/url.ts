/** Where people find the reference when callers find the API at `baseUrl`, behind a proxy with a prefix too. */
export const referenceUrl = (baseUrl: string) => baseUrl.replace(/v1$/, 'reference');
