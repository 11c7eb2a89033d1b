import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { keysInText } from './access/key.ts';
import type { LogLevel } from './config.ts';

/** The password in an address such as DATABASE_URL. */
const passwordsInText = /(:\/\/[^\s/:@"]*):[^\s/@"]*@/g;

/** A logger that writes JSON lines. No API key and no password of an address gets through, wherever in a line it stands. */
export function createLogger(level: LogLevel, stream: DestinationStream): FastifyBaseLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        streamWrite: (line) => line.replace(keysInText, 'pet_***').replace(passwordsInText, '$1:***@'),
      },
    },
    stream,
  );
}

/** One line for each answered request, in place of Fastify's two. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    reply.log.info(
      {
        reqId: request.id,
        method: request.method,
        url: request.url,
        operation: request.operation?.id,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
        keyId: request.caller?.keyId,
        address: request.ip,
        ...(error && { err: error }),
      },
      'answered',
    );
  }

  override routeNotFound(): void {}
}
