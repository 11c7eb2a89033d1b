import { unknownKey } from '../../keys/store.ts';
import { fault } from './shared/fault.ts';

export const unauthorized = fault({
  name: 'unauthorized',
  errors: ['unauthorized'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Answers 401 `unauthorized`, although the key is valid. Nothing was done.',
  goodClient:
    'Reads or fetches its credentials anew, and sends the request once more. After a second 401 it gives up.',
  consequence:
    'Clients refresh their credentials and try again without an end. Others log their user out for one 401, or drop the request that met it.',
  perform: () => {
    throw unknownKey();
  },
});
