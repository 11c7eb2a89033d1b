import { type Accounts, accountsTargets } from './accounts-operations.ts';
import { connectTo, type Requests, rootOf } from './connect.ts';
import { PetstoreError } from './error.ts';
import type { PetstoreOptions } from './options.ts';
import { planChanged } from './rate-limiter.ts';

/** Options of a client of accounts. Only `createAccount` needs no key. */
export type AccountsOptions = Omit<PetstoreOptions, 'apiKey'> & { apiKey?: string | undefined };

/**
 * Makes a client of accounts: with a key it shows and changes the account of the key, and without one it creates accounts. `baseUrl` is
 * that of the API and ends in `/v1`. These requests do not count against the limits of a key, and work during a ban. After `changePlan` the
 * other clients of the key, in the same program, send what waits for the limits of the former plan.
 *
 * @throws TypeError if `baseUrl` is no URL that ends in `/v1`, no header can hold the key, or an option is unknown.
 */
export function createAccounts({ apiKey = '', ...given }: AccountsOptions): Accounts & Requests {
  const options = { ...given, apiKey };
  const accounts = connectTo<Accounts>(options, rootOf(options), accountsTargets, false);
  const changePlan: Accounts['changePlan'] = async (...request) => {
    const changed = await accounts.changePlan(...request);
    planChanged(apiKey);
    return changed;
  };
  const deleteOwnAccount: Accounts['deleteOwnAccount'] = async (...request) => {
    try {
      await accounts.deleteOwnAccount(...request);
    } catch (error) {
      // An earlier attempt deleted the account, with its key.
      if (!(error instanceof PetstoreError && error.status === 401 && error.mayBeDone)) throw error;
    }
  };
  return { ...accounts, changePlan, deleteOwnAccount };
}
