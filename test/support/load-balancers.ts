import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { freePort } from './port.ts';
import { env, needs, startProgram, working } from './programs.ts';
import { textOf } from './tree.ts';

/** Texts of a configuration, with their replacements in a test. */
export type Changes = Record<string, string>;

/** A load balancer with a configuration in `deploy/`. */
export interface LoadBalancer {
  name: string;
  /** For the options of tests that need it. If `CI` is set, none is skipped. */
  needs: { skip: false | string };
  /** Its configuration in `deploy/`. */
  conf: string;
  /**
   * Changes that shorten the timeouts of a test: for header fields, for the end of a
   * connection, for a response, for a reader, for a stream, for a frozen instance.
   */
  quick: Record<'headers' | 'linger' | 'answer' | 'unread' | 'silence' | 'frozen', Changes>;
  /** Allows instances that share a busy machine with their test to respond late. */
  unhurried: Changes;
  /** Allows headers and a body to pause for longer than a test takes. */
  patient: Changes;
  /** Allows an address two concurrent requests. */
  twoRequests: Changes;
  /** Starts it in front of instances on these ports, until the test ends. Returns the port it listens on. */
  start(t: TestContext, instances: [number, number, number], changes?: Changes): Promise<number>;
}

interface Program {
  file: string;
  /** The differences on the machine of a test. */
  here(folder: string, address: string): Changes | Promise<Changes>;
  /** Its arguments for a configuration. */
  args(conf: string): string[];
}

const runs = (command: string) => working(command, ['-v']) !== undefined;

/** Debian has the module in a package of its own. Other builds of nginx contain it. */
function hasStream(): boolean {
  const { stderr } = spawnSync('nginx', ['-V'], { env, encoding: 'utf8' });
  return existsSync('/usr/lib/nginx/modules/ngx_stream_module.so') || / --with-stream(\s|$)/.test(stderr);
}

function starting(command: string, conf: string, { file, here, args }: Program) {
  return async (t: TestContext, instances: [number, number, number], changes: Changes = {}) => {
    const port = await freePort();
    const folder = temporaryFolder(t);
    const ofMachine = {
      ...(await here(folder, `127.0.0.1:${port}`)),
      ...Object.fromEntries(instances.map((at, i) => [`petstore-${i + 1}:8080`, `127.0.0.1:${at}`])),
    };
    const replace = (conf: string, [before, after]: [string, string]) => {
      if (!conf.includes(before)) throw new Error(`deploy/${file} does not say "${before}".`);
      return conf.replaceAll(before, after);
    };
    const path = join(folder, file);
    writeFileSync(path, Object.entries({ ...ofMachine, ...changes }).reduce(replace, conf));
    const answer = () => fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    const { child, ended } = await startProgram(command, args(path), async () => Boolean(await answer()));
    t.after(() => {
      child.kill('SIGTERM');
      return ended;
    });
    return port;
  };
}

/** A stream may be silent this long where that timeout is short. */
export const quickSilenceMs = 6_000;

/** HAProxy's timeout for checks of an instance that shares a busy machine with its test, unless a test is about that. */
export const patientCheck = '30s';

/** Lets each response from HAProxy name its instance. */
export const namesInstance: Changes = {
  '  default_backend requests': '  http-response set-header X-Instance %s\n  default_backend requests',
};

const nginxConf = textOf('deploy/nginx.conf');
const haproxyCfg = textOf('deploy/haproxy.cfg');

export const nginx: LoadBalancer = {
  name: 'nginx',
  needs: needs(runs('nginx') && hasStream(), 'nginx with its module "stream"'),
  conf: nginxConf,
  quick: {
    headers: { 'client_header_timeout 10s': 'client_header_timeout 1s' },
    linger: { 'lingering_time 5s;': 'lingering_time 1s; lingering_timeout 1s;' },
    answer: { 'proxy_read_timeout 7s;': 'proxy_read_timeout 500ms;' },
    unread: {
      'send_timeout 10s': 'send_timeout 1s',
      'proxy_timeout 31s': `proxy_timeout ${quickSilenceMs}ms`,
    },
    silence: { 'proxy_read_timeout 30s': `proxy_read_timeout ${quickSilenceMs}ms` },
    frozen: { 'proxy_read_timeout 7s;': 'proxy_read_timeout 1s;' },
  },
  unhurried: {
    'proxy_connect_timeout 1s': 'proxy_connect_timeout 1h',
    'proxy_read_timeout 7s;': 'proxy_read_timeout 1h;',
    'proxy_next_upstream_timeout 8s': 'proxy_next_upstream_timeout 1h',
  },
  patient: {
    'client_header_timeout 10s': 'client_header_timeout 1h',
    'client_body_timeout 25s': 'client_body_timeout 1h',
    'proxy_timeout 31s': 'proxy_timeout 1h',
  },
  twoRequests: { 'limit_conn addresses 100;': 'limit_conn addresses 2;' },
  start: starting('nginx', nginxConf, {
    file: 'nginx.conf',
    here: async (folder, address) => ({
      'listen 8080;': `listen ${address};`,
      '127.0.0.1:8079': `127.0.0.1:${await freePort()}`,
      '127.0.0.1:8078': `127.0.0.1:${await freePort()}`,
      '/tmp/': `${folder}/`,
    }),
    args: (conf) => ['-e', 'stderr', '-c', conf, '-g', 'daemon off;'],
  }),
};

export const haproxy: LoadBalancer = {
  name: 'HAProxy',
  needs: needs(runs('haproxy'), 'haproxy'),
  conf: haproxyCfg,
  quick: {
    headers: { 'timeout http-request 10s': 'timeout http-request 1s' },
    linger: { 'timeout client 25s': 'timeout client 5s' },
    answer: { 'wait-for-body time 20s': 'wait-for-body time 1s' },
    unread: { 'timeout client 25s': 'timeout client 1s' },
    silence: { 'timeout server 30s': `timeout server ${quickSilenceMs}ms` },
    frozen: { [`timeout check ${patientCheck}`]: 'timeout check 600ms' },
  },
  unhurried: { 'timeout connect 1s': 'timeout connect 1h', 'timeout server 30s\n': 'timeout server 1h\n' },
  patient: {
    'timeout client 25s': 'timeout client 1h',
    'timeout http-request 10s': 'timeout http-request 1h',
  },
  twoRequests: { 'sc0_conn_cur gt 100': 'sc0_conn_cur gt 2' },
  start: starting('haproxy', haproxyCfg, {
    file: 'haproxy.cfg',
    here: (_folder, address) => ({
      'bind :8080': `bind ${address}`,
      'timeout check 600ms': `timeout check ${patientCheck}`,
    }),
    args: (conf) => ['-db', '-f', conf],
  }),
};
