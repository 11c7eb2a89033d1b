/** The servers that the benchmark compares, each in a process of its own: `server.ts KIND PORT ARGUMENT`. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import fastify from 'fastify';
import { LocalLimiter } from '../../src/access/limits/local-limiter.ts';
import type { Database, Transaction, WriteContext } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import { readConfig } from '../../src/foundation/settings/config.ts';
import { createLogger } from '../../src/observe/log/logger.ts';
import { LogOutput } from '../../src/observe/log/output.ts';
import { buildApp } from '../../src/service/app.ts';
import { unrecorded } from '../../src/store/history/record.ts';
import { installation } from './data.ts';

const [kind, port, argument] = process.argv.slice(2) as [keyof typeof kinds, string, string];
const address = { host: '127.0.0.1', port: Number(port) };

const kinds = {
  /** Node.js alone: answers every request with the same bytes and header fields. The argument is JSON of both. */
  async bare() {
    const { status, headers, body } = JSON.parse(argument);
    const server = createServer((request, response) => {
      const answer = () => response.writeHead(status, headers).end(body);
      if (request.method === 'POST') request.on('end', answer).resume();
      else answer();
    });
    await once(server.listen(address), 'listening');
  },

  /** What a few lines with the same parts give: no keys, no limits, no checks. The argument is the database. */
  async plain() {
    const database = new DatabaseSync(argument, { readOnly: true });
    const find = database.prepare(
      'select id, name, category_id as categoryId, status from pets where workspace_id = 1 and id = ?',
    );
    const app = fastify();
    app.get('/v1/pets/:petId', async (request) => find.get((request.params as { petId: string }).petId));
    await app.listen(address);
  },

  /** This service, with its log, and with one transaction for each write. The argument is its data folder. */
  ungrouped: async () => serve(await openSqlite(argument, { maxGroupSize: 1 })),

  /** This service as it is. The argument is its data folder. */
  recorded: async () => serve(await openSqlite(argument)),

  /** This service without a history. The argument is its data folder. */
  async unrecorded() {
    const db = await openSqlite(argument);
    const write = (work: (sql: Transaction) => Promise<unknown>, cause: WriteContext) =>
      db.write((sql) => work(cause ? unrecorded(sql) : sql), cause);
    await serve({ read: db.read, write, counts: db.counts, close: () => db.close() } as Database);
  },
};

async function serve(db: Database): Promise<void> {
  const log = createLogger('info', new LogOutput(process.stdout.fd));
  const config = {
    ...readConfig({}),
    baseUrl: `http://127.0.0.1:${port}/v1`,
    trustProxy: false,
    hasDraftLimits: true,
    enforceSunset: false,
    lab: true,
  };
  const limiter = new LocalLimiter(db, Date.now, log);
  await buildApp({ config, db, limiter, log, installation, clock: Date.now }).listen(address);
}

await kinds[kind]();
