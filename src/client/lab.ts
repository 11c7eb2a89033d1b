import { connectTo, type Requests, rootOf } from './connect.ts';
import { type Lab, labTargets } from './lab-operations.ts';
import type { PetstoreOptions } from './options.ts';

/**
 * Makes a client of the lab. `baseUrl` is that of the API and ends in `/v1`. The lab has its own limits and responds during a ban, so
 * the client limits the rate of lab requests separately.
 *
 * @throws TypeError if `baseUrl` is no URL that ends in `/v1`, there is no key, or an option is unknown.
 */
export function createLab(options: PetstoreOptions): Lab & Requests {
  return connectTo<Lab>(options, `${rootOf(options)}/lab`, labTargets);
}
