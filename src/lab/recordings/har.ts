import { type Static, Type } from 'typebox';
import { DateTime, Measured, Shown } from '../../foundation/schema.ts';
import { version } from '../../foundation/version.ts';
import { maxParameters } from '../../http/input.ts';
import { reasonPhrase } from '../../http/server-response.ts';
import type { UnlinkedRequest } from './recorded-request.ts';

const unknown = -1;
const names = (description: string) =>
  Type.Array(
    Type.Object({ name: Shown('Its name.', 'accept'), value: Shown('Its value.', 'application/json') }),
    { description },
  );

const Message = {
  httpVersion: Shown(
    '`HTTP/1.1`, the version that the service speaks. The version of the request is not recorded.',
    'HTTP/1.1',
  ),
  cookies: names('Always empty: cookies are not stored.'),
  headers: names('Header fields.'),
  headersSize: Measured('Not known: −1.', unknown),
  bodySize: Measured('The size of the body in bytes; −1 if it is not known.', 24),
};

const Entry = Type.Object(
  {
    startedDateTime: DateTime('When it was handled.', '2026-11-21T09:30:05.125Z'),
    time: Measured('The duration in milliseconds.', 3.2),
    request: Type.Object({
      method: Shown('The method.', 'POST'),
      url: Shown('The URL.', 'http://localhost:8080/v1/store/orders'),
      ...Message,
      queryString: names(`The parameters of the query, ${maxParameters} at most.`),
      postData: Type.Optional(
        Type.Object({
          mimeType: Shown('The media type of the body.', 'application/json'),
          text: Shown('The beginning of the body.', '{"petId":1}'),
        }),
      ),
    }),
    response: Type.Object({
      status: Measured('The status code; 0 if the connection was cut off.', 201),
      statusText: Shown('The reason phrase of the status.', 'Created'),
      ...Message,
      content: Type.Object({
        size: Measured('The size of the body in bytes; −1 if it is not known.', 120),
        mimeType: Shown('The media type of the body.', 'application/json'),
      }),
      redirectURL: Shown('Always empty.', ''),
    }),
    cache: Type.Object({}, { description: 'Always empty.' }),
    timings: Type.Object({
      send: Measured('Always 0: it is included in `wait`.', 0),
      wait: Measured('The duration in milliseconds.', 3.2),
      receive: Measured('Always 0: it is included in `wait`.', 0),
    }),
    connection: Shown('The id of its connection.', 'pX31aZ09-7'),
    comment: Shown(
      'Its number, the faults that affected it, and `client disconnected` if it disconnected before its response was complete.',
      '7 rate-limited',
    ),
  },
  { title: 'HarEntry', description: 'A request and its response.' },
);

/** HTTP Archive 1.2: http://www.softwareishard.com/blog/har-12-spec/ */
export const Har = Type.Object(
  {
    log: Type.Object({
      version: Shown('The version of the format.', '1.2'),
      creator: Type.Object({
        name: Shown('The program that created it.', 'petstore'),
        version: Shown('Its version.', version),
      }),
      entries: Type.Array(Entry, { description: 'Requests in the order of time.' }),
      comment: Type.Optional(
        Shown(
          'Where the rest of the recording is. Absent if there is none.',
          'More: http://localhost:8080/lab/recordings/rec_602845719936/har?after=1000',
        ),
      ),
    }),
  },
  { title: 'Har', description: 'An HTTP Archive (HAR 1.2), which the developer tools of browsers can open.' },
);
type Har = Static<typeof Har>;

/** A part of a recording as an HTTP Archive. `url`: the address of the first part. `next`: more requests follow after this number. */
export const toHar = (
  { recorded, next }: { recorded: readonly UnlinkedRequest[]; next?: number },
  url: string,
): Har => ({
  log: {
    version: '1.2',
    creator: { name: 'petstore', version },
    entries: recorded.map((request) => toEntry(request, new URL(url).origin)),
    ...(next !== undefined && { comment: `More: ${url}?after=${next}` }),
  },
});

function toEntry(recorded: UnlinkedRequest, origin: string): Static<typeof Entry> {
  const { atMs, durationMs, method, target, headers, answerHeaders, body, status = 0 } = recorded;
  // A hostile URL has thousands of parameters. The URL itself shows all of them.
  const pairs = /\?([^#]*)/.exec(target)?.[1]?.split('&').filter(Boolean).slice(0, maxParameters) ?? [];
  const query = new URLSearchParams(pairs.join('&'));
  const size = Number(answerHeaders['content-length'] ?? unknown);
  return {
    startedDateTime: new Date(atMs).toISOString(),
    time: durationMs,
    request: {
      method,
      url: target.startsWith('/') ? origin + target : target,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: toList(headers),
      queryString: [...query].map(([name, value]) => ({ name, value })),
      ...(body !== undefined && { postData: { mimeType: headers['content-type'] ?? '', text: body } }),
      headersSize: unknown,
      bodySize: recorded.bodyBytes ?? unknown,
    },
    response: {
      status,
      statusText: status > 0 ? reasonPhrase(status) : '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: toList(answerHeaders),
      content: { size, mimeType: answerHeaders['content-type'] ?? '' },
      redirectURL: '',
      headersSize: unknown,
      bodySize: method === 'HEAD' ? 0 : size,
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    connection: recorded.connection,
    comment: [recorded.id, recorded.fault, recorded.left && 'client disconnected'].filter(Boolean).join(' '),
  };
}

const toList = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([name, value]) => ({ name, value }));
