import { operation, resource } from '../../operation.ts';
import type { LabServices } from '../services.ts';
import { readAccount } from './account.ts';
import { Account } from './schema.ts';

export const accountOperations = [
  operation({
    method: 'GET',
    path: '/account',
    id: 'getAccount',
    tag: 'Account',
    summary: 'Get the account of the key',
    description:
      'Returns how the key stands: its limits, its strikes, its ban, its streams, and what of the lab is active. It takes nothing from the limits, and answers during a ban, too. Where instances do not share limits, each tells what it has counted itself.',
    success: resource(Account, 'The account of the key.'),
    handle: (sql, input, lab: LabServices) => readAccount(sql, input, lab),
  }),
];
