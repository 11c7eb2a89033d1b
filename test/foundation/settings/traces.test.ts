import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tracesAreOn } from '../../../src/foundation/settings/config.ts';
import { ConfigError } from '../../../src/foundation/settings/setting.ts';

const address = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };

test('traces are on with an exporter or an address, unless they are turned off', () => {
  const on = [
    { OTEL_TRACES_EXPORTER: 'otlp' },
    address,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318/v1/traces' },
    { ...address, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_SDK_DISABLED: 'false' },
    { ...address, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
  ];
  const off = [
    {},
    { OTEL_TRACES_EXPORTER: ' ', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_SERVICE_NAME: 'pets', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { ...address, OTEL_TRACES_EXPORTER: 'none' },
    { ...address, OTEL_SDK_DISABLED: 'True' },
  ];
  for (const env of on) assert.equal(tracesAreOn(env), true, JSON.stringify(env));
  for (const env of off) assert.equal(tracesAreOn(env), false, JSON.stringify(env));
});

test('a missing exporter or protocol stops the start', () => {
  for (const [env, variable] of [
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER'],
    [{ ...address, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    [
      { ...address, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' },
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    ],
  ] as const)
    assert.throws(
      () => tracesAreOn(env),
      (error) => error instanceof ConfigError && error.message.startsWith(`${variable} must be `),
    );
});
