import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './port.ts';
import { fileAt } from './tree.ts';
import { until } from './until.ts';

/** The place where `scripts/pgbouncer.sh` installs it if the system has none, or an old one. */
const built = fileAt('node_modules/.cache/pgbouncer/pgbouncer');
const [leastMajor, leastMinor] = [1, 21];

/** The PgBouncer for tests: the one built here, or the system's; undefined if neither is new enough. */
function program(): string | undefined {
  return [built, 'pgbouncer', '/usr/sbin/pgbouncer'].find((file) => {
    const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
    const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
    return Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
  });
}

/** Why tests with PgBouncer are skipped here; never if `CI` is set. */
export function whyNoPgBouncer(): string | false {
  if (program()) return false;
  const reason = `there is no PgBouncer ${leastMajor}.${leastMinor} or newer (scripts/pgbouncer.sh builds one from Debian's source)`;
  if (process.env.CI) throw new Error(reason);
  return reason;
}

type Settings = Record<string, string | number>;

export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

/**
 * Starts a PgBouncer on loopback in front of the PostgreSQL at `serverUrl`. It gets roles and passwords from there, where the given role
 * may read them. It pools transactions, with fewer connections to the server than an instance opens to it.
 */
export async function startPgBouncer(serverUrl: string) {
  const url = new URL(serverUrl);
  const { username: account, password, port: serverPort } = url;
  const port = await freePort();
  url.port = String(port);
  const folder = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'));
  const [file, users, logFile] = [join(folder, 'pgbouncer.ini'), join(folder, 'users'), join(folder, 'log')];
  // If root starts it, it changes to an account that must read its files.
  chmodSync(folder, 0o755);
  writeFileSync(users, `"${account}" "${password}"\n`);
  let stop = async () => {};

  const configuration = (settings: Settings): string => {
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: users,
      auth_user: account,
      ...(process.getuid?.() === 0 && { user: account }),
      pool_mode: 'transaction',
      max_prepared_statements: 200,
      default_pool_size: 3,
      // Tests create many roles, each with its own connections to the server.
      server_idle_timeout: 2,
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    return `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`;
  };

  /** Restarts it with these settings. */
  const restart = async (settings: Settings = {}): Promise<void> => {
    await stop();
    writeFileSync(file, configuration(settings));
    // A file, since a full pipe that nobody reads would block it.
    const log = openSync(logFile, 'w');
    const child = spawn(program() as string, [file], { stdio: ['ignore', 'ignore', log] });
    closeSync(log);
    const exited = once(child, 'exit');
    stop = async () => {
      child.kill('SIGKILL');
      await exited;
    };
    await until(() => {
      const text = readFileSync(logFile, 'utf8');
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${text}`);
      return text.includes('process up');
    });
  };

  await restart();
  return {
    /** The address of the same database through it. */
    url: url.href,
    restart,
    async remove(): Promise<void> {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}
