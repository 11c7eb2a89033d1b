import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { receive } from './receiver.ts';

/** A proxy to a server that can change its target, be slow, and stall: then connections stay open without data. */
export class StallingProxy {
  #isStalled = false;
  /** The port for new connections. */
  targetPort = 0;
  /** The delay in each direction. */
  delayMs = 0;
  /** The number of connections so far. */
  count = 0;
  /** The number of open connections. */
  openCount = 0;
  readonly #sockets = new Set<Socket>();
  #frozen: ReadonlySet<Socket> = new Set();
  /** The port of the proxy. */
  port = 0;

  /** Listens until the test ends. */
  static async start(t: TestContext, targetPort: number): Promise<StallingProxy> {
    const proxy = new StallingProxy();
    proxy.targetPort = targetPort;
    proxy.port = (await receive(t, (near) => proxy.#connect(near))).port;
    return proxy;
  }

  #connect(near: Socket): void {
    this.count++;
    this.openCount++;
    near.on('close', () => this.openCount--);
    const far = connect(this.targetPort, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => {
        if (this.#isStalled || this.#frozen.has(near)) return;
        if (this.delayMs === 0) to.write(bytes);
        else setTimeout(() => to.write(bytes), this.delayMs);
      });
      from.on('close', () => to.destroy()).on('error', () => {});
    }
  }

  /** Stops all data on current connections. New connections work as before. */
  freeze(): void {
    this.#frozen = new Set(this.#sockets);
  }

  stall(): void {
    this.#isStalled = true;
  }

  /** Lets new connections through. Connections that lost data end. */
  resume(): void {
    this.#isStalled = false;
    for (const socket of this.#sockets) socket.destroy();
  }
}
