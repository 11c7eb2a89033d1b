import { readFileSync } from 'node:fs';
import { load } from './packages.ts';

const converter = load('openapi-to-postmanv2');
const newman = load('newman');

/** Longer than any answer but that of a stream takes. */
const timeoutRequest = 10_000;

/** A request of a collection and the status of its answer; undefined if none came. */
export interface Sent {
  name: string;
  request: string;
  status: number | undefined;
}

/** What Postman makes of a description, with these settings of its import. */
export function importCollection(description: string, settings: object): Promise<object> {
  const input = { type: 'json', data: readFileSync(description, 'utf8') };
  return new Promise((resolve, reject) => {
    // biome-ignore lint/suspicious/noExplicitAny: the converter has no types
    converter.convertV2(input, settings, (error: unknown, { result, reason, output }: any) =>
      result ? resolve(output[0].data) : reject(error ?? new Error(reason)),
    );
  });
}

/** Sends the requests of a collection in their order. `onStart` hears of each before it is sent, and what it returns when it is answered. */
export function run(
  collection: object,
  variables: Record<string, string>,
  onStart: (name: string) => (() => void) | undefined,
): Promise<Sent[]> {
  const envVar = Object.entries(variables).map(([key, value]) => ({ key, value }));
  return new Promise((resolve, reject) => {
    let onEnd: (() => void) | undefined;
    newman
      // biome-ignore lint/suspicious/noExplicitAny: newman has no types
      .run({ collection, envVar, timeoutRequest }, (error: unknown, { run }: any) => {
        if (error) reject(error);
        else resolve(run.executions.map(sentOf));
      })
      .on('beforeRequest', (_error: unknown, { item }: { item: { name: string } }) => {
        onEnd = onStart(item.name);
      })
      .on('request', () => onEnd?.());
  });
}

// biome-ignore lint/suspicious/noExplicitAny: newman has no types
const sentOf = ({ item, request, response }: any): Sent => ({
  name: item.name,
  request: `${request.method} ${request.url}`,
  status: response?.code,
});
