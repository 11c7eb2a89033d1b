import { extname } from 'node:path';
import {
  MessageChannel,
  type MessagePort,
  parentPort,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads';

/** What a call reports: a message that may be answered, and at its end its result or its error. */
type Report<Message, Result> = { message: Message } | { result: Result } | { failure: Error };

/** What a call gets: the answer to its message, or that its caller aborts it. */
type Reply = { answer: unknown } | { isAborted: true };

/** A thread that performs calls, each over a port of its own. It starts with the first call, and again after it ended. */
export class CallThread<Task, Message, Result> {
  readonly #module: URL;
  readonly #purpose: string;
  readonly #options: WorkerOptions;
  readonly #rejects = new Set<(error: Error) => void>();
  #worker: Worker | undefined;

  /** `module`: calls `serveCalls`. `purpose`: such as `sends to webhooks`. */
  constructor(module: URL, purpose: string, options: WorkerOptions = {}) {
    this.#module = module;
    this.#purpose = purpose;
    this.#options = options;
  }

  /** Rejects if the call fails or the thread ends. `onMessage` answers. `signal` aborts the call, which decides how it ends. */
  async call(task: Task, onMessage: (message: Message) => unknown, signal?: AbortSignal): Promise<Result> {
    this.#worker ??= this.#start();
    const { port1: port, port2 } = new MessageChannel();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const reply = (message: Reply) => port.postMessage(message);
    const abort = () => reply({ isAborted: true });
    port.on('message', async (report: Report<Message, Result>) => {
      if ('result' in report) resolve(report.result);
      else if ('failure' in report) reject(report.failure);
      else reply({ answer: await onMessage(report.message) });
    });
    this.#rejects.add(reject);
    signal?.addEventListener('abort', abort);
    try {
      this.#worker.postMessage({ task, port: port2 }, [port2]);
      return await promise;
    } finally {
      this.#rejects.delete(reject);
      signal?.removeEventListener('abort', abort);
      port.close();
    }
  }

  /** Ends the thread, and the calls in it. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread(this.#module, this.#options);
    worker.unref();
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
      const how = cause ? 'failed' : 'has ended';
      const error = new Error(`The thread that ${this.#purpose} ${how}.`, { cause });
      for (const reject of this.#rejects) reject(error);
    });
    return worker;
  }
}

/** Starts a thread of a module, named by its TypeScript file, without options of Node.js: some keep a module from running. */
export const startThread = ({ href }: URL, options: WorkerOptions = {}): Worker =>
  new Worker(new URL(href.replace(/\.ts$/, extname(import.meta.url))), { execArgv: [], ...options });

/** Performs the calls of the parent. `send` resolves with its answer, one at a time. `transfer`: memory that a result moves. */
export function serveCalls<Task, Message, Result>(
  perform: (task: Task, send: (message: Message) => Promise<unknown>, signal: AbortSignal) => Promise<Result>,
  transfer: (result: Result) => ArrayBuffer[] = () => [],
): void {
  parentPort?.on('message', async ({ task, port }: { task: Task; port: MessagePort }) => {
    const controller = new AbortController();
    let giveAnswer = (_answer: unknown) => {};
    const report = (one: Report<Message, Result>, moved: ArrayBuffer[] = []) => port.postMessage(one, moved);
    const send = (message: Message) =>
      new Promise<unknown>((resolve) => {
        giveAnswer = resolve;
        report({ message });
      });
    port.on('message', (reply: Reply) => {
      if ('answer' in reply) giveAnswer(reply.answer);
      else controller.abort();
    });
    try {
      const result = await perform(task, send, controller.signal);
      report({ result }, transfer(result));
    } catch (error) {
      report({ failure: error instanceof Error ? error : new Error(String(error)) });
    } finally {
      port.close();
    }
  });
}
