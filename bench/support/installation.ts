import type { Installation } from '../../src/http/operation.ts';
import { InstallationKey } from '../../src/settings/secret-key.ts';

/** An installation that sends to nobody. */
export const installation: Installation = {
  key: new InstallationKey('the key of an installation for benchmarks'),
  targetProblem: () => 'absent',
};
