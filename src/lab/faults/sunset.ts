import { assertNotSunset } from '../../observe/deprecation.ts';
import { fault } from './shared/fault.ts';

export const sunset = fault({
  name: 'sunset',
  isCondition: true,
  refusesAll: true,
  fits: (operation) => operation.deprecated !== undefined,
  errors: ['gone'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Deprecated operations return 410, as they may do after their sunset.',
  goodClient: 'Uses the successor that `Link` names.',
  whyItMatters:
    'Clients ignore `Deprecation` and `Sunset` for years, and then all of them break on the same day.',
  perform: ({ operation, services, touch }) => {
    touch();
    assertNotSunset(operation, services.api.operations, Number.POSITIVE_INFINITY);
  },
});
