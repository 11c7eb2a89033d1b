import { currentTracer } from '../../foundation/tracing.ts';
import { newTraceparent } from '../../http/trace-context.ts';
import type { AttemptOutcome } from './send-request.ts';

/** Adds the trace context to each message, with the span of its attempt if there are traces. Call `end` in the order of the messages. */
export function traceAttempts<Message extends { id: string; traceparent?: string }>(
  messages: readonly Message[],
  { webhookId, url, failures }: { webhookId: number; url: string; failures: number },
) {
  const tracer = currentTracer();
  // Path and query of a URL may contain a secret.
  const { hostname, port, protocol } = new URL(url);
  const spans = messages.map(({ id, traceparent }) =>
    tracer?.planAttempt(
      {
        name: 'POST webhook',
        attributes: {
          'http.request.method': 'POST',
          'http.request.resend_count': failures || undefined,
          'server.address': hostname,
          'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
          'petstore.webhook.id': webhookId,
          'petstore.message.id': id,
        },
      },
      traceparent,
    ),
  );
  let ended = 0;
  return {
    messages: messages.map((message, i) => ({
      ...message,
      traceparent: spans[i]?.traceparent ?? message.traceparent ?? newTraceparent(),
    })),
    end({ status, error, durationMs }: AttemptOutcome): void {
      const errorType = error === undefined ? undefined : String(status ?? 'no_answer');
      spans[ended++]?.end(durationMs, { 'http.response.status_code': status }, errorType);
    },
  };
}
