import { baseOf, connect } from './connect.ts';
import { type Lab, labTargets } from './lab-operations.ts';
import type { PetstoreOptions } from './options.ts';

/**
 * Makes a client of the lab, which stands beside the API: `baseUrl` is that of the API. Its requests take nothing from the limits of the key
 * and are answered during a ban, too, so they keep a pace of their own.
 *
 * @throws TypeError if `baseUrl` is no URL that ends in `/v1`, or there is no key.
 */
export function createLab(options: PetstoreOptions): Lab {
  const [, start] = /^([^?#]+)\/v1$/.exec(baseOf(options)) ?? [];
  if (!start)
    throw new TypeError('The lab is beside the API, and baseUrl is that of the API: it ends in /v1.');
  return connect<Lab>(options, `${start}/lab`, labTargets);
}
