import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A way to a server that can lead elsewhere, be slow, and stall: then connections stand, and nothing comes through. */
export class StallingProxy {
  #isStalled = false;
  /** Where new connections lead. */
  targetPort: number;
  /** How long everything takes in each direction. */
  delayMs = 0;
  /** How many connections there were. */
  count = 0;
  /** How many connections are open. */
  openCount = 0;
  readonly #sockets = new Set<Socket>();
  #frozen: ReadonlySet<Socket> = new Set();
  readonly #server: Server;

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.#server = createServer((near) => {
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
    });
  }

  /** Listens until the test ends. */
  static async start(t: TestContext, targetPort: number): Promise<StallingProxy> {
    const proxy = new StallingProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    t.after(() => {
      proxy.#server.close();
      for (const socket of proxy.#sockets) socket.destroy();
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** From here on nothing comes through what is connected now; new connections are as before. */
  freeze(): void {
    this.#frozen = new Set(this.#sockets);
  }

  stall(): void {
    this.#isStalled = true;
  }

  /** Lets new connections through. Those that lost something end. */
  resume(): void {
    this.#isStalled = false;
    for (const socket of this.#sockets) socket.destroy();
  }
}
