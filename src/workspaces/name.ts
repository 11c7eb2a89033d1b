/** What the name of a workspace must be, to follow "must be" in a message. */
export const workspaceNameRule = '1 to 63 of a-z, 0-9 and "-", not beginning with "-"';

export const isWorkspaceName = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(text);
