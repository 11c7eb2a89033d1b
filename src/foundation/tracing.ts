// Spans of OpenTelemetry. Without a tracer, which is the default, nothing is made and every function here only calls its work.

import type { SpanText, Tracer } from './tracer.ts';

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
