import type { Environment } from './config.ts';
import { ConfigError } from './setting.ts';

const ofTraces = 'OTEL_EXPORTER_OTLP_TRACES_';
const ofAll = 'OTEL_EXPORTER_OTLP_';

/**
 * Whether the variables of OpenTelemetry ask for traces: an exporter `otlp`, or an address to send them to. Its packages read the other
 * variables. Throws ConfigError for an exporter or a protocol that is not supported.
 */
export function tracesAreOn(env: Environment): boolean {
  const read = (name: string) => env[name]?.trim() ?? '';
  const exporter = read('OTEL_TRACES_EXPORTER');
  const hasAddress = read(`${ofTraces}ENDPOINT`) !== '' || read(`${ofAll}ENDPOINT`) !== '';
  if (read('OTEL_SDK_DISABLED').toLowerCase() === 'true' || exporter === 'none') return false;
  if (exporter === '' && !hasAddress) return false;
  if (exporter !== '' && exporter !== 'otlp')
    throw new ConfigError(`OTEL_TRACES_EXPORTER must be otlp or none, not ${JSON.stringify(exporter)}.`);
  const variable = read(`${ofTraces}PROTOCOL`) ? `${ofTraces}PROTOCOL` : `${ofAll}PROTOCOL`;
  const protocol = read(variable);
  if (protocol !== '' && protocol !== 'http/json')
    throw new ConfigError(
      `${variable} must be http/json or absent, not ${JSON.stringify(protocol)}. OTEL_TRACES_EXPORTER=none turns traces off.`,
    );
  return true;
}
