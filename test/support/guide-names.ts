/** The guides in their order. */
export const guideNames = [
  'Getting started',
  'Authentication',
  'Rate limits',
  'Errors',
  'Events',
  'Rehearse failures',
  'Agents',
  'Generate a client',
  'Versioning',
];
