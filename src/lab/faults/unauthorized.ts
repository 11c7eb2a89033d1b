import { unknownKey } from '../../access/keys/store.ts';
import { fault } from './shared/fault.ts';

export const unauthorized = fault({
  name: 'unauthorized',
  errors: ['unauthorized'],
  group: 'Failures and refusals',
  level: 'recommended',
  mayEnd: true,
  does: 'Returns 401 `unauthorized`, although the key is valid. The request has no effect.',
  goodClient: 'Stops and reports the reason. If it can renew its credentials, it may retry once.',
  whyItMatters:
    'Clients refresh their credentials and retry in an endless loop. Others log the user out after one 401, or drop the request.',
  perform: () => {
    throw unknownKey();
  },
});
