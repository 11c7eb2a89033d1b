import { Command } from 'commander';
import { readConfig } from '../config.ts';

const environment = `
Environment:
  PORT               port to listen on (8080)
  HOST               address to listen on (127.0.0.1)
  DATABASE_URL       postgres://user:password@host:port/database; absent: SQLite
  PETSTORE_DATA_DIR  folder of the SQLite database and of demo.key (./data)
  PETSTORE_BASE_URL  where callers find the API (http://localhost:PORT/v1)
  PETSTORE_DEMO      on: seed a workspace "demo" and create a key to it; off: neither (on)
  TRUST_PROXY        whose X-Forwarded-For to believe: off, on, or a list such as
                     loopback,10.0.0.0/8 (off)
  VALKEY_URL         redis[s]://[user:password@]host[:port], or nodes of a cluster with commas
                     between them, for instances that share limits (none)
  VALKEY_TIMEOUT_MS  how long a request waits for Valkey (100)
  PETSTORE_ENFORCE_SUNSET
                     on: deprecated operations answer 410 from their sunset on (off)
  LOG_LEVEL          fatal, error, warn, info, debug, trace or silent (info)

Bans of keys that keep sending after 429:
  PETSTORE_BAN_STRIKES_FACTOR   refused requests borne in a minute, as a multiple of
                                the plan's requests per minute; at least 10 (1)
  PETSTORE_BAN_FIRST_SECONDS    length of the first ban (60)
  PETSTORE_BAN_GROWTH           how much longer each further ban is (2)
  PETSTORE_BAN_LONGEST_SECONDS  length that no ban exceeds (3600)
  PETSTORE_BAN_MEMORY_HOURS     how long a ban makes the next one longer (24)`;

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
