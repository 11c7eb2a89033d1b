import type { Wire } from './interpret.ts';

/** A line for bash that sends the request to a freshly started demo. */
export function curlOf({ method, path, query, headers, body }: Wire, key: string): string {
  const fields = Object.entries(headers).map(([name, value]) => {
    const shown = value.replace(key, '$(cat petstore-data/demo.key)');
    return shown === value
      ? `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`
      : `-H "${name}: ${shown}"`;
  });
  const verb = method === 'HEAD' ? '-I' : `-X ${method}`;
  const data = body === undefined ? '' : `--data-binary ${quoted(body)}`;
  const url = `http://localhost:8080${path}${query && `?${query}`}`;
  return ['curl -g -i', verb, ...fields, data, quoted(url)].filter(Boolean).join(' ');
}

/** Text or bytes as one word, in the ANSI-C quoting of bash if it has more than printable ASCII. */
function quoted(value: string | Uint8Array): string {
  const bytes = Buffer.from(value as string);
  const text = bytes.toString('latin1');
  if (/^[ -&(-~]*$/.test(text)) return `'${text}'`;
  const escaped = text.replace(
    /[^ -&(-[\]-~]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped}'`;
}
