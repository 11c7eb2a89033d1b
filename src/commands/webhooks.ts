import { hash } from 'node:crypto';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { clientKeyVariable, readConfig } from '../config.ts';
import { readOwnFile } from '../data-dir.ts';
import { eventTypes } from '../history/types.ts';
import { secretPrefix } from '../secret-key.ts';

export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('Try webhooks without a public address.');

  webhooks
    .command('listen')
    .description('Print what happens in a workspace, or post it, signed as a webhook, to a local address.')
    .option('--forward <url>', 'address to post each event to, such as http://localhost:3000/hooks', parseUrl)
    .option('--type <type...>', `only events of these types: ${eventTypes.join(', ')}`)
    .option('--after <id>', 'begin after this event instead of now; 0 is the beginning', parsePosition)
    .option('--key <key>', `API key; by default ${clientKeyVariable}, or the key of the demonstration`)
    .option('--url <url>', 'where the API is; by default PETSTORE_BASE_URL, or this machine', parseUrl)
    .addOption(
      new Option(
        '--secret <secret>',
        'secret to sign with; by default one that is made from the key, the same each time',
      ).argParser(parseSecret),
    )
    .option('--json', 'print each event as JSON on a line')
    .action(async (options) => {
      const { baseUrl, dataDir } = readConfig(process.env);
      const key: string | undefined =
        options.key ||
        process.env[clientKeyVariable]?.trim() ||
        readOwnFile(join(dataDir, 'demo.key'))?.trim();
      if (!key) {
        throw new Error(`There is no API key. Give --key or ${clientKeyVariable}; "keys create" makes one.`);
      }
      const { listen } = await import('./listen.ts');
      await listen({
        baseUrl: options.url?.href.replace(/\/$/, '') ?? baseUrl,
        key,
        types: options.type ?? [],
        after: options.after,
        forwardTo: options.forward,
        secret: options.secret ?? secretOf(key),
        asJson: options.json === true,
      });
    });

  return webhooks;
}

/** The same each time, so that a receiver under development keeps it. */
const secretOf = (key: string) => secretPrefix + hash('sha256', `petstore webhooks listen ${key}`, 'base64');

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be an http or https address.');
  return url;
}

function parsePosition(text: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError('It must be the id of an event, or 0.');
  }
  return id;
}

function parseSecret(text: string): string {
  const bytes = Buffer.from(text.slice(secretPrefix.length), 'base64');
  if (!text.startsWith(secretPrefix) || bytes.length < 24) {
    throw new InvalidArgumentError(`It must be ${secretPrefix} and at least 24 bytes in Base64.`);
  }
  return text;
}
