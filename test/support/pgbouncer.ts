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

/** A PgBouncer in front of a PostgreSQL, on loopback, which gets roles and passwords from it. */
export class PgBouncer {
  readonly #server: URL;
  readonly #port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'));
  #stop = async () => {};

  private constructor(server: URL, port: number) {
    this.#server = server;
    this.#port = port;
  }

  /**
   * Starts it in front of the server at `url`, whose role may read the passwords of others, in transaction mode, with fewer connections to the
   * server than an instance opens to it.
   */
  static async start(url: string, settings: Settings = {}): Promise<PgBouncer> {
    const pooler = new PgBouncer(new URL(url), await freePort());
    const { username, password } = pooler.#server;
    // If root starts it, it changes to an account that must read its files.
    chmodSync(pooler.#folder, 0o755);
    writeFileSync(join(pooler.#folder, 'users'), `"${username}" "${password}"\n`);
    await pooler.restart(settings);
    return pooler;
  }

  /** The address of the same database through it. */
  get url(): string {
    const url = new URL(this.#server);
    url.port = String(this.#port);
    return url.href;
  }

  /** Restarts it with these settings. */
  async restart(settings: Settings = {}): Promise<void> {
    await this.#stop();
    const file = join(this.#folder, 'pgbouncer.ini');
    writeFileSync(file, this.#configuration(settings));
    // A file, since a full pipe that nobody reads would block it.
    const logFile = join(this.#folder, 'log');
    const log = openSync(logFile, 'w');
    const child = spawn(program() as string, [file], { stdio: ['ignore', 'ignore', log] });
    closeSync(log);
    const exited = once(child, 'exit');
    this.#stop = async () => {
      child.kill('SIGKILL');
      await exited;
    };
    await until(() => {
      const text = readFileSync(logFile, 'utf8');
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${text}`);
      return text.includes('process up');
    });
  }

  async remove(): Promise<void> {
    await this.#stop();
    rmSync(this.#folder, { recursive: true });
  }

  #configuration(settings: Settings): string {
    const { username: account, port } = this.#server;
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: this.#port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: join(this.#folder, 'users'),
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
    return `[databases]\n* = host=127.0.0.1 port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`;
  }
}
