import { contentInWords } from '../../db/tables.ts';
import { grouped } from '../../foundation/words.ts';
import { operation } from '../../http/operation.ts';
import { resource } from '../../http/success.ts';
import { maxResetRows, maxResetsPerDay } from '../lab-bounds.ts';
import { type AccountState, readAccount } from './account.ts';
import { type ResetLimiter, resetOwn } from './reset-workspace.ts';
import { Account, WorkspaceContent } from './schema.ts';

/** What these operations need from the instance that runs them. */
export interface AccountServices extends AccountState {
  /** Waits until the request that started the ban of a key is stored, if this instance banned it. */
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
      'Returns the state of the key: its limits, strikes, ban, streams, and active rehearsal and recording. A strike is a request that got 429 and counts towards a ban. This request does not count against the limits, and works during a ban. If instances do not share limits, each returns its own counts; see `sharing`.',
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
    description: `Removes all data of the workspace, and restores the demo data, with ids from 1. This affects all keys of the workspace. Every key may do it, even during a ban. Keys, limits, webhooks, events, recordings and rehearsals stay. The history gets \`workspace.reset\` and \`workspace.seeded\`. The stored responses of \`Idempotency-Key\`s to removed resources are removed, too. With more than ${grouped(maxResetRows)} ${contentInWords} the response is 409, and its message names the command to use. An instance resets a workspace at most once a second. Requests reset a workspace at most ${grouped(maxResetsPerDay)} times a day (UTC).`,
    success: resource(WorkspaceContent, 'The content of the workspace after the reset.'),
    handle: (sql, input, { resets }: AccountServices) =>
      resets.run(input.workspaceId, input, () => resetOwn(sql, input)),
  }),
];
