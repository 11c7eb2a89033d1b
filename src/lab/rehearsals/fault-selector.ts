import type { PlannedFault } from './schema.ts';

/** A fault as a command takes it: `rate-limited:operation=placeOrder,times=2`. */
export function selectorOf({ fault, ...parameters }: PlannedFault): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return pairs.length > 0 ? `${fault}:${pairs.join(',')}` : fault;
}

/** The fault of such a text. Undefined if it has another form. */
export function parseSelector(text: string): PlannedFault | undefined {
  const [, fault = '', rest] = /^([\w-]+)(?::(.*))?$/s.exec(text) ?? [];
  const pairs = rest?.split(',').map((pair) => /^(\w+)=([\w-]+)$/.exec(pair)) ?? [];
  if (fault === '' || pairs.includes(null)) return undefined;
  const parameters = pairs.map((pair) => {
    const [, name, value = ''] = pair as RegExpExecArray;
    return [name, /^\d+$/.test(value) ? Number(value) : value];
  });
  return { fault, ...Object.fromEntries(parameters) };
}
