import { unknownKey } from '../../keys/store.ts';
import { fault } from './shared/fault.ts';

export const unauthorized = fault({
  name: 'unauthorized',
  errors: ['unauthorized'],
  group: 'Failures and refusals',
  level: 'recommended',
  mayEnd: true,
  does: 'Answers 401 `unauthorized`, although the key is valid. Nothing was done.',
  goodClient: 'Ends and says why. One that can renew its credentials may send the request once more.',
  consequence:
    'Clients refresh their credentials and try again without an end. Others log their user out for one 401, or drop the request that met it.',
  perform: () => {
    throw unknownKey();
  },
});
