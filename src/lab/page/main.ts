import { currentKey, onKeyChange } from '../../pages/browser/key.ts';
import './standing.ts';
import './limits.ts';
import './requests.ts';
import './report.ts';
import './faults.ts';
import './events.ts';
import './webhooks.ts';
import './store.ts';
import './navigation.ts';
import { session } from './session.ts';
import { titleOf } from './title.ts';

const tellTitle = () => {
  const title = titleOf(session, document.hidden);
  if (document.title !== title) document.title = title;
};
for (const type of ['key', 'change']) session.addEventListener(type, tellTitle);
document.addEventListener('visibilitychange', tellTitle);

onKeyChange((key) => session.use(key));
session.use(currentKey());
