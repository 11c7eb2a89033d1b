// Loaded only when traces are on, because the packages of OpenTelemetry are optional.

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Tracer as SdkTracer,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { ApiError } from './errors.ts';

export interface SpanText {
  /** One of few: without ids. */
  name: string;
  /** By the semantic conventions of OpenTelemetry. No value of a caller, unless it is without secrets. */
  attributes: Attributes;
}

const random = new RandomIdGenerator();
let known: SpanContext | undefined;

/** Makes random ids, except for a span whose ids are already known. */
export const idGenerator: IdGenerator = {
  generateTraceId: () => known?.traceId ?? random.generateTraceId(),
  generateSpanId: () => known?.spanId ?? random.generateSpanId(),
};

export type RequestSpan = ReturnType<Tracer['startRequest']>;

export class Tracer {
  readonly #sdk: SdkTracer;
  readonly #running = new AsyncLocalStorage<Span | undefined>();

  /** The provider of `sdk` uses `idGenerator`. */
  constructor(sdk: SdkTracer) {
    this.#sdk = sdk;
  }

  /** Begins the span of a request. `parent` is the trace context that it came with. */
  startRequest(text: SpanText, parent: string | undefined) {
    const span = this.#start(text, SpanKind.SERVER, remote(parent));
    return {
      /** The trace context of the consequences of the request. */
      traceparent: traceparentOf(span),
      /** Runs `work`, whose spans become children of this one. */
      run: <T>(work: () => T): T => this.#running.run(span, work),
      end: (attributes: Attributes, errorType?: string) => end(span, attributes, errorType),
    };
  }

  /**
   * Plans the span of an attempt to send a message, a child of `parent`, or in a trace of its own. Its start is known only after its end,
   * but its span id is sent with it. So the sampler decides on a planned span that never ends. The final span gets its ids.
   */
  planAttempt(text: SpanText, parent: string | undefined) {
    const context = remote(parent);
    const planned = this.#start(text, SpanKind.CLIENT, context);
    return {
      traceparent: traceparentOf(planned),
      /** Ends it now. It began `durationMs` ago. */
      end: (durationMs: number, attributes: Attributes, errorType?: string) => {
        known = planned.spanContext();
        const span = this.#start(text, SpanKind.CLIENT, context, { startTime: Date.now() - durationMs });
        known = undefined;
        end(span, attributes, errorType);
      },
    };
  }

  /** Runs `work` in a span of the request that runs now. Outside of a recorded request there is none. */
  async call<T>(text: SpanText, work: () => Promise<T>): Promise<T> {
    const parent = this.#recorded();
    if (!parent) return work();
    const span = this.#start(text, SpanKind.CLIENT, within(parent));
    return endAfter(() => span, work());
  }

  /** Runs `work`, which the request that runs now does not wait for, without its span. */
  leave(work: () => void): void {
    this.#running.exit(work);
  }

  /** Runs `enqueue` in two spans: until its callback first runs, and from then on. Work of others in the queue is in neither. */
  async queue<Callback extends (...args: never[]) => unknown, T>(
    callback: Callback,
    enqueue: (callback: Callback) => Promise<T>,
  ): Promise<T> {
    const parent = this.#recorded();
    if (!parent) return enqueue(callback);
    const start = (name: string) => this.#start({ name, attributes: {} }, SpanKind.INTERNAL, within(parent));
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
    return endAfter(() => transaction ?? wait, done);
  }

  /** The span that runs now, unless it has ended or is not recorded. */
  #recorded(): Span | undefined {
    const span = this.#running.getStore();
    return span?.isRecording() ? span : undefined;
  }

  #start({ name, attributes }: SpanText, kind: SpanKind, context: Context, options: SpanOptions = {}): Span {
    return this.#sdk.startSpan(name, { ...options, kind, attributes }, context);
  }
}

/** When `work` is done, ends the span that `spanOf` returns. */
async function endAfter<T>(spanOf: () => Span, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    spanOf().end();
    return result;
  } catch (error) {
    // A refusal is no failure of the storage.
    end(spanOf(), {}, error instanceof ApiError ? undefined : errorTypeOf(error));
    throw error;
  }
}

function end(span: Span, attributes: Attributes, errorType: string | undefined): void {
  span.setAttributes(attributes);
  if (errorType !== undefined) {
    span.setAttribute('error.type', errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

const within = (parent: Span): Context => trace.setSpan(ROOT_CONTEXT, parent);

/** The context of a `traceparent`. */
function remote(traceparent: string | undefined): Context {
  if (traceparent === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53), 16),
    isRemote: true,
  });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The code of an error or of its cause, or its class. No message, which may hold text of a caller. */
function errorTypeOf(error: unknown): string {
  const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return code ?? cause?.code ?? name ?? 'Error';
}
