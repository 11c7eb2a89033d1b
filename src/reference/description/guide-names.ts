/** A text about the whole API, in CommonMark. */
export type Guide = {
  name: string;
  description: string;
};

/** In the order of the reference. Each guide is a file with its name. */
const names = [
  'Getting started',
  'Get a key',
  'Authentication',
  'Rate limits',
  'Errors',
  'Events',
  'Rehearse failures',
  'Agents',
  'Generate a client',
  'Versioning',
];

/** The guide that needs a lab. */
const labGuide = 'Rehearse failures';

/** The names of the guides, in their order. */
export const guideNames = (hasLab: boolean) => names.filter((name) => hasLab || name !== labGuide);

export const guidePath = ({ name }: Pick<Guide, 'name'>) => `/guides/${fileOf(name)}`;

export const guidePaths = (hasLab = true) => guideNames(hasLab).map((name) => guidePath({ name }));

/** The file name of a guide. */
export const fileOf = (name: string) => `${slugOf(name)}.md`;

/** A name or a heading as a part of an address. */
export const slugOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
