/**
 * A client of Petstore's API, and one of its lab, for Node.js, browsers, Deno and Bun: `import { createPetstore } from 'petstore/client'`.
 */
export { type Answer, answerOf } from './answers.ts';
export type { Decide } from './change.ts';
export type * from './description.ts';
export { PetstoreError } from './error.ts';
export { type Int64, parseExactly, writeExactly } from './exact-json.ts';
export { createLab } from './lab.ts';
export type * as LabTypes from './lab-description.ts';
export type * from './lab-operations.ts';
export type { List } from './list.ts';
export type * from './operations.ts';
export type * from './options.ts';
export { createPetstore, type Petstore } from './petstore.ts';
export { type VerifyOptions, verifyWebhook } from './webhook.ts';
