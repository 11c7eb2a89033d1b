import { currentKey, onKeyChange } from '../../access/keys/tab-key.ts';
import './connection.ts';
import './limits.ts';
import './requests.ts';
import './report.ts';
import './faults.ts';
import './events.ts';
import './webhooks.ts';
import './store.ts';
import './ban-demo.ts';
import './order-demo.ts';
import './navigation.ts';
import { titleOf } from './page-title.ts';
import { session } from './session.ts';
import { forEachKey } from './state.ts';

const showTitle = () => {
  const title = titleOf(session, document.hidden);
  if (document.title !== title) document.title = title;
};
forEachKey(() => {
  session.onChange(showTitle);
  showTitle();
});
document.addEventListener('visibilitychange', showTitle);

onKeyChange((key) => session.use(key));
session.use(currentKey());
