/** The programs and styles for browsers that are made of files of `src`, by their paths. */

export const referencePrograms = { '/reference/key.js': 'pages/browser/key.ts' };

export const labPrograms = {
  '/lab/page.js': 'lab/page/main.ts',
  '/lab/page.css': 'lab/page/main.css',
};
