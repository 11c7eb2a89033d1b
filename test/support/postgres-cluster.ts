import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { dataPlace } from './folder.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import { freePort } from './port.ts';

/** Debian's folder for PostgreSQL's programs, with one folder for each version. */
const debianFolder = '/usr/lib/postgresql';
/** The account that Debian's package creates. PostgreSQL refuses to run as root. */
const account = 'postgres';
const password = 'open-sesame';
/** Whether tests use PostgreSQL through PgBouncer. */
export const isPooled = process.env.PETSTORE_TEST_PGBOUNCER === 'true';
const slotName = 'standby';

/** The folder of PostgreSQL's programs, the newest, or undefined on a machine without them. */
export function postgresPrograms(): string | undefined {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  return versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(debianFolder, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'pg_ctl')));
}

/** Why tests on PostgreSQL are skipped here; never if `CI` is set. */
export function whyNoPostgres(): string | false {
  if (postgresPrograms()) return false;
  const reason = `${debianFolder} has no PostgreSQL; install Debian's package postgresql to test on it`;
  if (process.env.CI) throw new Error(reason);
  return reason;
}

/** A PostgreSQL of its own in a temporary folder, on loopback. It writes each commit as in production, by default in memory. */
export class PostgresCluster {
  port = 0;
  readonly #folder: string;
  readonly #settings: string;
  #pooler: PgBouncer | undefined;

  private constructor(settings = '', place = dataPlace()) {
    this.#folder = mkdtempSync(join(place, 'petstore-postgres-'));
    this.#settings = settings;
    this.#give(this.#folder);
  }

  /** Creates a cluster in a folder of `place` and starts it. `settings` are more arguments of the server. */
  static async start(settings = '', place?: string): Promise<PostgresCluster> {
    const cluster = new PostgresCluster(settings, place);
    await cluster.#create();
    return cluster;
  }

  /** A cluster that runs during the tests of a suite. Call this in the suite. */
  static ofSuite(): PostgresCluster {
    const cluster = new PostgresCluster();
    before(() => cluster.#create());
    after(() => cluster.remove());
    return cluster;
  }

  async #create(): Promise<void> {
    this.port = await freePort();
    const passwordFile = join(this.#folder, 'password');
    this.#write(passwordFile, password);
    const passwords = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-U', account];
    await this.#run('initdb', ['--no-sync', ...passwords]);
    await this.start();
    if (isPooled) this.#pooler = await startPgBouncer(this.directUrl);
  }

  /** Creates a standby of this one and starts it. It has a replication slot, so it may lag by any amount. */
  async addStandby(): Promise<PostgresCluster> {
    const standby = new PostgresCluster('', dirname(this.#folder));
    standby.port = await freePort();
    const slot = ['--create-slot', `--slot=${slotName}`, '--write-recovery-conf'];
    await standby.#run('pg_basebackup', ['-d', this.url, '--checkpoint=fast', '--no-sync', ...slot]);
    await standby.start();
    return standby;
  }

  /** The address of its first database. */
  get url(): string {
    return this.#pooler?.url ?? this.directUrl;
  }

  /** The same address, bypassing PgBouncer. */
  get directUrl(): string {
    return `postgres://${account}:${password}@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    const options = `-c port=${this.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200 ${this.#settings}`;
    await this.#run('pg_ctl', ['start', '--wait', '-o', options, '-l', join(this.#folder, 'log')]);
  }

  /** `immediate` is a crash: nothing more is written, and the next start recovers. */
  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    await this.#run('pg_ctl', ['stop', '--wait', '-m', mode]);
  }

  /** Promotes a standby to primary. */
  async promote(): Promise<void> {
    await this.#run('pg_ctl', ['promote', '--wait']);
  }

  /** Starts a stopped former primary as a standby of its successor. */
  async follow(primary: PostgresCluster): Promise<void> {
    await this.#run('pg_receivewal', [
      '-d',
      primary.url,
      '--create-slot',
      `--slot=${slotName}`,
      '--if-not-exists',
    ]);
    const settings = `primary_conninfo = '${primary.url}'\nprimary_slot_name = '${slotName}'\n`;
    this.#write(join(this.#folder, 'data', 'standby.signal'), '');
    appendFileSync(join(this.#folder, 'data', 'postgresql.auto.conf'), settings);
    await this.start();
  }

  /** The ids of its processes, the first of which started the others. */
  get processes(): number[] {
    const pid = Number(readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return [pid, ...children.filter(Boolean).map(Number)];
  }

  /** Kills the server and all its processes, like a loss of power. */
  kill(): void {
    for (const pid of this.processes) process.kill(pid, 'SIGKILL');
  }

  async remove(): Promise<void> {
    await this.#pooler?.remove();
    // A failed test may have left it stopped.
    await this.stop('immediate').catch(() => {});
    rmSync(this.#folder, { recursive: true });
  }

  #write(path: string, text: string): void {
    writeFileSync(path, text);
    this.#give(path);
  }

  /** Gives a file or a folder to the account of the server. */
  #give(path: string): void {
    if (process.getuid?.() === 0) chownSync(path, idOf('-u'), idOf('-g'));
  }

  async #run(program: string, args: string[]): Promise<void> {
    const command = [join(postgresPrograms() as string, program), '-D', join(this.#folder, 'data'), ...args];
    const asAccount = process.getuid?.() === 0 ? ['runuser', '-u', account, '--', ...command] : command;
    const [file, ...rest] = asAccount as [string, ...string[]];
    // The server keeps inherited files, so a pipe would stay open while it runs.
    const child = spawn(file, rest, { cwd: this.#folder, stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${program} ended with ${code} in ${this.#folder}.`);
  }
}

const idOf = (option: '-u' | '-g') => Number(execFileSync('id', [option, account], { encoding: 'utf8' }));
