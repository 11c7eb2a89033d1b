// Spans of OpenTelemetry. Without a tracer, which is the default, nothing is made and every function here only calls its work.

export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanText {
  /** One of few: without ids. */
  name: string;
  /** By the semantic conventions of OpenTelemetry. No value of a caller, unless it is without secrets. */
  attributes: Attributes;
}

/** The span of a request that the service answers. */
export interface RequestSpan {
  /** The trace context of the consequences of the request. */
  traceparent: string;
  /** Runs `work`, whose spans become children of this one. */
  run<T>(work: () => T): T;
  end(attributes: Attributes, errorType: string | undefined): void;
}

/** The span of a request that the service sends. */
export interface AttemptSpan {
  /** The trace context to send. */
  traceparent: string;
  /** Ends it now. It began `durationMs` ago. */
  end(durationMs: number, attributes: Attributes, errorType: string | undefined): void;
}

export interface Tracer {
  /** Begins the span of a request. `parent` is the trace context that it came with. */
  startRequest(text: SpanText, parent: string | undefined): RequestSpan;
  /** Plans the span of an attempt, a child of `parent`, or in a trace of its own. */
  planAttempt(text: SpanText, parent: string | undefined): AttemptSpan;
  /** Runs `work` in a span of the request that runs now. Outside of a recorded request there is none. */
  call<T>(text: SpanText, work: () => Promise<T>): Promise<T>;
  /** Runs `work`, which the request that runs now does not wait for, without its span. */
  leave(work: () => void): void;
  /** Runs `enqueue` in two spans: its wait, and the work of its callback. The work of others in the queue is in neither. */
  queue<Callback extends (...args: never[]) => unknown, T>(
    callback: Callback,
    enqueue: (callback: Callback) => Promise<T>,
  ): Promise<T>;
}

/** The tracer of this process. Undefined: traces are off. */
let tracer: Tracer | undefined;

export function setTracer(own: Tracer | undefined): void {
  tracer = own;
}

export const currentTracer = () => tracer;

/** Runs `work` in a span, if there are traces. Only then `describe` is called. */
export const inSpan = <T>(describe: () => SpanText, work: () => Promise<T>): Promise<T> =>
  tracer ? tracer.call(describe(), work) : work();

/** Runs `work`, which the request that runs now does not wait for. */
export const outsideSpan = (work: () => void): void => (tracer ? tracer.leave(work) : work());

/** Lets `enqueue` put `callback` into a queue, with spans for its wait and its work if there are traces. */
export const inQueue = <Callback extends (...args: never[]) => unknown, T>(
  callback: Callback,
  enqueue: (callback: Callback) => Promise<T>,
): Promise<T> => (tracer ? tracer.queue(callback, enqueue) : enqueue(callback));
