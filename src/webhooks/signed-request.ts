import type { InstallationKey } from '../secret-key.ts';
import { version } from '../version.ts';
import type { Outgoing } from './send.ts';
import { type Message, signedHeaders } from './signature.ts';
import type { Settings } from './work.ts';

/** The request that brings a message to a webhook, signed with each secret that holds at its time. */
export function signedRequest(
  { url, salt, previousSalt, previousUntilMs }: Settings,
  key: InstallationKey,
  message: Message,
): Outgoing {
  const salts = [salt];
  if (previousSalt !== undefined && message.atMs < previousUntilMs && key.isFor(previousSalt))
    salts.push(previousSalt);
  const secrets = salts.map((salt) => key.derive(salt));
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Petstore/${version}`,
    ...signedHeaders(message, secrets),
  };
  return { url, headers, body: message.body };
}
