import { contentInWords } from '../../db/tables.ts';
import { grouped } from '../../foundation/bounds.ts';
import { operation, resource } from '../../http/operation.ts';
import { maxResetRows } from '../lab-bounds.ts';
import { type AccountState, readAccount } from './account.ts';
import { type ResetLimiter, resetOwn } from './reset-workspace.ts';
import { Account, WorkspaceContent } from './schema.ts';

/** What these operations need of the instance that runs them. */
export interface AccountServices extends AccountState {
  /** Waits until the storage holds the request that began the ban of a key, if this instance banned it. */
  waitUntilBanStartKnown(keyId: string): Promise<void>;
  resets: ResetLimiter;
}

export const accountOperations = [
  operation({
    method: 'GET',
    path: '/account',
    id: 'getAccount',
    tag: 'Account',
    summary: 'Get the account of the key',
    description:
      'Returns how the key stands: its limits, its strikes, its ban and the request that began it, its streams, and what of the lab is active. It takes nothing from the limits, and answers during a ban, too. Where instances do not share limits, each tells what it has counted itself; `sharing` says whether they do.',
    success: resource(Account, 'The account of the key.'),
    prepare: ({ keyId }, { waitUntilBanStartKnown }: AccountServices) => waitUntilBanStartKnown(keyId),
    handle: (sql, input, services: AccountServices) => readAccount(sql, input, services),
  }),

  operation({
    method: 'POST',
    path: '/workspace/reset',
    id: 'resetWorkspace',
    tag: 'Account',
    summary: 'Reset the workspace',
    description: `Removes everything in the workspace of the key, and fills it with the demonstration data, whose ids begin at 1 again. All keys of the workspace see it, and each may ask for it, also one that is banned. Keys, their limits, webhooks, the history, recordings and rehearsals stay; the history tells \`workspace.reset\` and \`workspace.seeded\`. An Idempotency-Key of a request whose result goes is forgotten. A workspace that holds more than ${grouped(maxResetRows)} ${contentInWords} is not reset by a request: 409 names the command that does it. An instance resets a workspace once a second at most.`,
    success: resource(WorkspaceContent, 'What the workspace holds now.'),
    handle: (sql, input, { resets }: AccountServices) =>
      resets.run(input.workspaceId, input, () => resetOwn(sql, input)),
  }),
];
