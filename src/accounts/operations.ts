import type { Handled } from '../http/operation.ts';
import { type OwnAccountServices, ownAccountOperations } from './own-operations.ts';
import { createAccount, type SignUpServices } from './sign-up.ts';

/** What operations about accounts need from the instance that runs them. */
export type AccountsServices = SignUpServices & OwnAccountServices;

/** All operations about accounts, in the order of their description. */
export const accountsOperations: readonly Handled<[AccountsServices]>[] = [
  createAccount,
  ...ownAccountOperations,
];
