/** Clients of the API, the lab and accounts, for Node.js, browsers, Deno, Bun: `import { createPetstore } from 'petstore-lab/client'`. */
import './needed-node.ts';

export { type AccountsOptions, createAccounts } from './accounts.ts';
export type * as AccountTypes from './accounts-description.ts';
export type { Accounts } from './accounts-operations.ts';
export { type Answer, answerOf } from './answers.ts';
export type { Requests } from './connect.ts';
export type * from './description.ts';
export { PetstoreError, type PetstoreErrorCode } from './error.ts';
export { type Int64, parseExactly, writeExactly } from './exact-json.ts';
export { createLab } from './lab.ts';
export type * as LabTypes from './lab-description.ts';
export type * from './lab-operations.ts';
export type { List } from './list.ts';
export type { RawAnswer } from './operation.ts';
export type * from './operations.ts';
export type * from './options.ts';
export { createPetstore, type Decide, type Petstore } from './petstore.ts';
export { type VerifyOptions, verifyWebhook } from './webhook.ts';
