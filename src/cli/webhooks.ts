import { hash } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { eventTypes } from '../client/operations.ts';
import { secretPrefix } from '../foundation/settings/secret-key.ts';
import { parseUrl, readAccess, withServiceOptions } from './find-service.ts';

export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('Test webhooks without a public address.');

  const command = webhooks
    .command('listen')
    .description(
      'Print events as they happen. With --forward, also post them to a local address, signed like webhooks.',
    )
    .option('--forward <url>', 'address to post each event to, such as http://localhost:3000/hooks', parseUrl)
    .option('--type <type...>', `only events of these types: ${eventTypes.join(', ')}`)
    .option('--after <id>', 'start after this event instead of now; 0 is the beginning', parsePosition);
  withServiceOptions(command)
    .addOption(
      new Option(
        '--secret <secret>',
        'secret to sign with; by default derived from the key, so it is the same each time',
      ).argParser(parseSecret),
    )
    .option('--json', 'print each event as JSON on a line')
    .action(async (options) => {
      const client = await readAccess(options);
      const { listen } = await import('./webhooks-listen.ts');
      await listen({
        ...client,
        find: () => readAccess(options),
        types: options.type ?? [],
        after: options.after,
        forwardTo: options.forward,
        secret: options.secret ?? secretOf(client.key),
        asJson: options.json === true,
      });
    });

  return webhooks;
}

/** The secret is derived from the key, so it stays the same while a receiver is developed. */
const secretOf = (key: string) => secretPrefix + hash('sha256', `petstore webhooks listen ${key}`, 'base64');

function parsePosition(text: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError('It must be the id of an event, or 0.');
  }
  return id;
}

/** Parses a secret that signs webhooks. */
export function parseSecret(text: string): string {
  const bytes = Buffer.from(text.slice(secretPrefix.length), 'base64');
  if (!text.startsWith(secretPrefix) || bytes.length < 24) {
    throw new InvalidArgumentError(`It must be ${secretPrefix} followed by at least 24 bytes in Base64.`);
  }
  return text;
}
