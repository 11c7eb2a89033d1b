import { ApiError } from '../foundation/errors.ts';
import type { OpenPlan } from '../foundation/settings/plans.ts';
import { operation } from '../http/operation.ts';
import { empty, issued, resource } from '../http/responses.ts';
import { accountsPrefix } from '../http/target.ts';
import type { AccountState } from '../lab/account/operations.ts';
import type { Log } from '../observe/log/logger.ts';
import { ChangedKey, KeyChange, OwnAccount, PlanChange } from './schema.ts';

/** What these operations need from the instance that runs them. */
export interface OwnAccountServices extends AccountState {
  /** The plans that the settings open to the demo key and to keys of open sign-up. Undefined: the defaults. */
  upgrades: readonly OpenPlan[] | undefined;
  /** Whom users can ask for a plan. Empty: nobody is named. */
  contact: string;
  /** Removes a key from the cache, so that this instance acts on its change at once. */
  forget(keyId: string): void;
  log: Pick<Log, 'info'>;
}

const own = `${accountsPrefix}/me`;

const later = (): never => {
  throw new ApiError('unavailable', 'Not there yet.');
};

export const ownAccountOperations = [
  operation({
    method: 'GET',
    path: own,
    id: 'getOwnAccount',
    tag: 'Accounts',
    summary: 'Get the account of the key',
    description: 'Returns the state of the key, and what it can change.',
    success: resource(OwnAccount, 'The account of the key.'),
    handle: async (_sql, _input, _services: OwnAccountServices) => later(),
  }),
  operation({
    method: 'POST',
    path: `${own}/plan`,
    id: 'changePlan',
    tag: 'Accounts',
    summary: 'Change the plan',
    description: 'Changes the plan of the key.',
    body: PlanChange,
    success: resource(OwnAccount, 'The account with the new plan.'),
    errors: ['plan_by_agreement'],
    handle: async (_sql, _input, _services: OwnAccountServices) => later(),
  }),
  operation({
    method: 'POST',
    path: `${own}/key`,
    id: 'changeKey',
    tag: 'Accounts',
    summary: 'Change the secret of the key',
    description: 'Creates a new secret for the same key.',
    sealsAnswer: true,
    body: KeyChange,
    success: issued(ChangedKey, 'The key with its new secret.'),
    handle: async (_sql, _input, _services: OwnAccountServices) => later(),
  }),
  operation({
    method: 'DELETE',
    path: own,
    id: 'deleteOwnAccount',
    tag: 'Accounts',
    summary: 'Delete the account',
    description: 'Deletes the workspace, its data and its keys.',
    success: empty('The account is deleted.'),
    errors: ['account_kept', 'key_banned'],
    handle: async (_sql, _input, _services: OwnAccountServices) => later(),
  }),
];
