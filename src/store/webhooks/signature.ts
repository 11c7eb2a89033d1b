import { createHmac } from 'node:crypto';
import { secretPrefix } from '../../foundation/settings/secret-key.ts';

/** A message to sign. A retry has the same id and another time. */
export interface SignedMessage {
  id: string;
  atMs: number;
  body: string;
}

/** The headers of Standard Webhooks 1.0, signed with each valid secret, the newest first. */
export function signedHeaders({ id, atMs, body }: SignedMessage, secrets: readonly string[]) {
  const timestamp = Math.floor(atMs / 1_000);
  const sign = (secret: string) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map(sign).join(' '),
  };
}
