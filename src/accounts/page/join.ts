// The page that creates an account. The code of an invite stands behind # in its address, which browsers do not send.

import { createAccounts } from '../../client/accounts.ts';
import { PetstoreError } from '../../client/error.ts';
import { forgetId, idOf } from '../../lab/page/kept-id.ts';

const action = 'petstore-join';
const timeoutMs = 20_000;
const maxWaitMs = 5_000;

const part = <E extends HTMLElement>(selector: string) => document.querySelector(selector) as E;
const form = part<HTMLFormElement>('form');
const codeField = part('#code-field');
const code = part<HTMLInputElement>('#code');
const name = part<HTMLInputElement>('#name');
const button = part<HTMLButtonElement>('form button');
const status = part('form [role=status]');
const failure = part('form [role=alert]');

/** Whether the service creates accounts without an invite. The service put it into the page. */
const isOpen = part<HTMLMetaElement>('[name=petstore-signup]').content === 'open';
const accounts = createAccounts({ baseUrl: new URL('v1', document.baseURI).href, timeoutMs, maxWaitMs });

takeCode();
addEventListener('hashchange', takeCode);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!button.ariaDisabled) void join();
});

/** Takes the code from the address. Without a valid one the user can enter it. */
function takeCode(): void {
  const given = location.hash.replace(/^#(code(=|%3d))?/i, '');
  const whole = /inv_[0-9A-Za-z]{16}/.exec(given)?.[0];
  code.value = whole ?? given;
  codeField.hidden = whole !== undefined || (isOpen && !given);
  code.required = !codeField.hidden;
  (codeField.hidden ? name : code).focus();
}

async function join(): Promise<void> {
  const invite = code.value.trim();
  const body = { name: name.value.trim(), ...(invite && { invite }) };
  button.ariaDisabled = 'true';
  status.textContent = 'Creating your store …';
  failure.textContent = '';
  try {
    const idempotencyKey = idOf(action, JSON.stringify(body));
    const { key, labUrl } = await accounts.createAccount(body, { idempotencyKey });
    forgetId(action);
    if (labUrl) location.replace(new URL(`lab#key=${key}`, document.baseURI));
    else show(key);
  } catch (error) {
    const isLost = error instanceof PetstoreError && error.mayBeDone;
    const isMalformed = error instanceof PetstoreError && error.code === 'invalid_request';
    failure.textContent = isLost
      ? 'The answer did not arrive. Press the button again.'
      : isMalformed
        ? 'Enter a name of 1 to 40 characters that others can read, without line breaks or invisible characters.'
        : (error as Error).message;
    if (invite && error instanceof PetstoreError && error.status === 403) {
      // A code that was refused can be corrected, and stays nowhere else.
      codeField.hidden = false;
      history.replaceState(null, '', location.pathname);
      forgetId(action);
    }
    status.textContent = '';
    button.ariaDisabled = null;
  }
}

/** Shows the key where there is no lab. */
function show(key: string): void {
  const [shown, link] = [part<HTMLInputElement>('section input'), part<HTMLAnchorElement>('section a')];
  form.hidden = true;
  part('section').hidden = false;
  shown.value = key;
  link.href += `#key=${key}`;
  part('section h2').focus();
}
