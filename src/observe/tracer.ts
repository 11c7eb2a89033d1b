import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Api from '@opentelemetry/api';
import type { Context, Tracer as Sdk, Span, SpanContext, SpanKind, SpanOptions } from '@opentelemetry/api';
import type { IdGenerator } from '@opentelemetry/sdk-trace-base';
import { ApiError } from '../foundation/errors.ts';
import type { AttemptSpan, Attributes, RequestSpan, SpanText, Tracer } from '../foundation/tracing.ts';

/** Makes random ids, except for one span whose ids are already known. */
export class KnownIds implements IdGenerator {
  readonly #random: IdGenerator;
  #next: SpanContext | undefined;

  constructor(random: IdGenerator) {
    this.#random = random;
  }

  /** Runs `start`, which begins one span, with the ids of `context`. */
  use<T>(context: SpanContext, start: () => T): T {
    this.#next = context;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId = (): string => this.#next?.traceId ?? this.#random.generateTraceId();

  generateSpanId = (): string => this.#next?.spanId ?? this.#random.generateSpanId();
}

/** Makes spans by the packages of OpenTelemetry. */
export class OpenTelemetryTracer implements Tracer {
  readonly #api: typeof Api;
  readonly #sdk: Sdk;
  readonly #ids: KnownIds;
  /** The span that runs now. */
  readonly #running = new AsyncLocalStorage<Span | undefined>();

  constructor(api: typeof Api, sdk: Sdk, ids: KnownIds) {
    this.#api = api;
    this.#sdk = sdk;
    this.#ids = ids;
  }

  startRequest(text: SpanText, parent: string | undefined): RequestSpan {
    const span = this.#start(text, this.#api.SpanKind.SERVER, this.#remote(parent));
    return {
      traceparent: traceparentOf(span),
      run: (work) => this.#running.run(span, work),
      end: (attributes, errorType) => this.#end(span, attributes, errorType),
    };
  }

  /**
   * The start of an attempt is known only after its end, but its span id is sent with it. So the sampler decides on a planned span that
   * never ends. The final span gets its ids.
   */
  planAttempt(text: SpanText, parent: string | undefined): AttemptSpan {
    const context = this.#remote(parent);
    const { CLIENT } = this.#api.SpanKind;
    const planned = this.#start(text, CLIENT, context);
    return {
      traceparent: traceparentOf(planned),
      end: (durationMs, attributes, errorType) => {
        const startTime = Date.now() - durationMs;
        const span = this.#ids.use(planned.spanContext(), () =>
          this.#start(text, CLIENT, context, { startTime }),
        );
        this.#end(span, attributes, errorType);
      },
    };
  }

  async call<T>(text: SpanText, work: () => Promise<T>): Promise<T> {
    const parent = this.#recorded();
    if (!parent) return work();
    const span = this.#start(text, this.#api.SpanKind.CLIENT, this.#within(parent));
    return this.#endAfter(() => span, work());
  }

  leave(work: () => void): void {
    this.#running.exit(work);
  }

  async queue<Callback extends (...args: never[]) => unknown, T>(
    callback: Callback,
    enqueue: (callback: Callback) => Promise<T>,
  ): Promise<T> {
    const parent = this.#recorded();
    if (!parent) return enqueue(callback);
    const { INTERNAL } = this.#api.SpanKind;
    const start = (name: string) => this.#start({ name, attributes: {} }, INTERNAL, this.#within(parent));
    const wait = start('write queue');
    let transaction: Span | undefined;
    const run = (...args: never[]) => {
      if (!transaction) {
        wait.end();
        transaction = start('transaction');
      }
      return this.#running.run(transaction, () => callback(...args));
    };
    const done = this.#running.exit(() => enqueue(run as unknown as Callback));
    return this.#endAfter(() => transaction ?? wait, done);
  }

  /** The span that runs now, unless it has ended or is not recorded. */
  #recorded(): Span | undefined {
    const span = this.#running.getStore();
    return span?.isRecording() ? span : undefined;
  }

  #start({ name, attributes }: SpanText, kind: SpanKind, context: Context, options: SpanOptions = {}): Span {
    return this.#sdk.startSpan(name, { ...options, kind, attributes }, context);
  }

  /** When `work` is done, ends the span that `spanOf` returns. */
  async #endAfter<T>(spanOf: () => Span, work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      spanOf().end();
      return result;
    } catch (error) {
      // A refusal is no failure of the storage.
      this.#end(spanOf(), {}, error instanceof ApiError ? undefined : errorTypeOf(error));
      throw error;
    }
  }

  #end(span: Span, attributes: Attributes, errorType: string | undefined): void {
    span.setAttributes(attributes);
    if (errorType !== undefined) {
      span.setAttribute('error.type', errorType);
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    span.end();
  }

  #within(parent: Span): Context {
    return this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, parent);
  }

  #remote(parent: string | undefined): Context {
    const { trace, ROOT_CONTEXT } = this.#api;
    return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));
  }
}

const spanContextOf = (traceparent: string): SpanContext => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  traceFlags: Number.parseInt(traceparent.slice(53), 16),
  isRemote: true,
});

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The code of an error or of its cause, or its class. No message, which may hold text of a caller. */
function errorTypeOf(error: unknown): string {
  const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return code ?? cause?.code ?? name ?? 'Error';
}
