import { InstallationKey } from '../../src/foundation/settings/secret-key.ts';
import type { Installation } from '../../src/http/operation.ts';

/** An installation that sends to nobody. */
export const installation: Installation = {
  key: new InstallationKey('the key of an installation for benchmarks'),
  targetProblem: () => 'absent',
};
