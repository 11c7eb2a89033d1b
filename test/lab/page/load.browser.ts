import { browserTest as test } from '../../support/browsers.ts';
import { assertNoGrowth, loadPage } from '../../support/lab-page-load.ts';

test('the page does not grow while 3,000 requests arrive at full speed', async (t) => {
  const result = await loadPage(t, 3_000);
  t.diagnostic(JSON.stringify(result));
  assertNoGrowth(result);
});
