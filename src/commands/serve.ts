import { Command } from 'commander';
import { readConfig } from '../config.ts';

const environment = `
Environment:
  PORT               port to listen on (8080)
  HOST               address to listen on (127.0.0.1)
  PETSTORE_DATA_DIR  folder of the database and of demo.key (./data)
  PETSTORE_BASE_URL  where callers find the API (http://localhost:PORT/v1)
  PETSTORE_DEMO      on: seed a workspace "demo" and create a key to it; off: neither (on)
  LOG_LEVEL          fatal, error, warn, info, debug, trace or silent (info)`;

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service until it gets SIGTERM or SIGINT.')
    .addHelpText('after', environment)
    .action(async () => {
      const config = readConfig(process.env);
      const { serve } = await import('../serve.ts');
      await serve(config);
    });
}
