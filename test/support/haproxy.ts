import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { freePort } from './port.ts';
import { startProgram } from './programs.ts';

/** The port of a server, and the port of its HTTP check, where 200 means that it is the primary. */
export interface Backend {
  port: number;
  checkPort: number;
}

/** HAProxy on its own port, in front of the healthy backends. */
export class Haproxy {
  readonly port: number;
  readonly #socket: string;

  private constructor(port: number, socket: string) {
    this.port = port;
    this.#socket = socket;
  }

  /** Runs until the test ends. Sessions with an unhealthy server stay open, unless it `endsSessions`. */
  static async start(t: TestContext, backends: Backend[], endsSessions: boolean): Promise<Haproxy> {
    const folder = temporaryFolder(t);
    const haproxy = new Haproxy(await freePort(), join(folder, 'socket'));
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, haproxy.#settings(backends, endsSessions));
    const answers = () => haproxy.healthy().then(Boolean, () => false);
    t.after((await startProgram('haproxy', ['-db', '-f', file], answers)).kill);
    return haproxy;
  }

  /** The ports of the servers that get new connections. */
  async healthy(): Promise<number[]> {
    const socket = connect(this.#socket);
    socket.write('show stat\n');
    const [header = '', ...lines] = (await text(socket)).split('\n').map((line) => line.split(','));
    const [name, status] = [header.indexOf('svname'), header.indexOf('status')];
    return lines.flatMap((line) => {
      const port = /^postgres-(\d+)$/.exec(line[name] ?? '')?.[1];
      return port && line[status]?.startsWith('UP') ? [Number(port)] : [];
    });
  }

  /** The page on operations shows these. */
  #settings(backends: Backend[], endsSessions: boolean): string {
    const ends = endsSessions ? ' on-marked-down shutdown-sessions' : '';
    const servers = backends.map(
      ({ port, checkPort }) => `  server postgres-${port} 127.0.0.1:${port} check port ${checkPort}`,
    );
    return `global
  stats socket ${this.#socket}
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen postgres
  bind 127.0.0.1:${this.port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 3 rise 2${ends}
${servers.join('\n')}
`;
  }
}
