import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { readConfig, settings, shownDefault, tracesAreOn } from '../../../src/foundation/settings/config.ts';
import { ConfigError } from '../../../src/foundation/settings/setting.ts';
import { petstore, startCommand, startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';
import { root, textOf } from '../../support/tree.ts';
import { until } from '../../support/until.ts';

/** Invalid values of settings. A service finds them before it does anything else. */
const wrongValues: [variable: string, value: string][] = [
  ['PORT', '-1'],
  ['PORT', '65536'],
  ['PORT', '80a'],
  ['PETSTORE_BASE_URL', 'localhost:8080'],
  ['PETSTORE_BASE_URL', 'http://localhost:8080/'],
  ['PETSTORE_BASE_URL', 'ftp://localhost/v1'],
  ['PETSTORE_BASE_URL', 'https://me:hunter2@pets.example/v2?token=hunter2#hunter2'],
  ['PETSTORE_BASE_URL', 'me:hunter2@pets.example/v1'],
  ['PETSTORE_DEMO', 'maybe'],
  ['PETSTORE_SIGNUP', 'on'],
  ['PETSTORE_UPGRADES', 'free,enterprise'],
  ['PETSTORE_CONTACT', 'a\nb'],
  ['PETSTORE_CONTACT', 'x'.repeat(201)],
  ['LOG_LEVEL', 'loud'],
  ['TRUST_PROXY', '1'],
  ['TRUST_PROXY', 'loopback, 10.1'],
  ['DATABASE_URL', 'mysql://me:hunter2@127.0.0.1/petstore'],
  ['DATABASE_URL', 'localhost:5432'],
  ['VALKEY_URL', 'valkey'],
  ['VALKEY_URL', 'http://localhost'],
  ['VALKEY_URL', 'redis://localhost/x'],
  ['VALKEY_URL', 'redis://:%@localhost'],
  ['VALKEY_URL', 'redis://localhost, redis:'],
  ['VALKEY_URL', 'redis://me:hunter2@127.0.0.1/petstore'],
  ['VALKEY_TIMEOUT_MS', '0'],
  ['PETSTORE_SECRET_KEY', 'hunter2'],
];

for (const [variable, value] of wrongValues) {
  test(`${variable}=${value} is refused in one line that names it and repeats no password`, () => {
    assert.throws(
      () => readConfig({ [variable]: value }),
      (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, new RegExp(`^.*${variable}.*$`));
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  });
}

test('a HOST without an address stops the start with one line that names it', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t), HOST: 'no such host' };
  const { status, stdout, stderr } = petstore(['serve'], env);
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^petstore: .*HOST.*\n$/);
});

test('the service and commands warn of a variable that looks like a setting and is none', async (t) => {
  const folder = await temporaryStorage(t);
  const mistyped = { PETSTORE_DATADIR: '/elsewhere', PETSTORE_DEMOS: '' };
  const service = await startService(t, folder, mistyped);
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const warnings = lines.filter(({ level }) => level === 'warn');
  const variables = warnings.map(({ variable }) => variable);
  assert.deepEqual(variables, ['PETSTORE_DATADIR', 'PETSTORE_DEMOS']);
  const command = petstore(['keys', 'list', '--json'], { PETSTORE_DATA_DIR: folder, ...mistyped });
  assert.match(command.stderr, /^petstore: PETSTORE_DATADIR: .+\npetstore: PETSTORE_DEMOS: .+\n$/);
  assert.equal(JSON.parse(command.stdout).length, 1);
});

test('the settings about accounts are read', () => {
  const { signUp, upgrades, contact } = readConfig({});
  assert.deepEqual([signUp, upgrades, contact], [false, undefined, '']);
  const set = readConfig({
    PETSTORE_SIGNUP: 'open',
    PETSTORE_UPGRADES: 'pro, free',
    PETSTORE_CONTACT: 'ada@example.com',
  });
  assert.deepEqual([set.signUp, set.upgrades, set.contact], [true, ['free', 'pro'], 'ada@example.com']);
  assert.deepEqual(readConfig({ PETSTORE_UPGRADES: 'none' }).upgrades, []);
});

test('open sign-up without TRUST_PROXY starts with a warning', async (t) => {
  for (const [env, warns] of [
    [{}, true],
    [{ TRUST_PROXY: 'loopback' }, false],
  ] as const) {
    const folder = await temporaryStorage(t);
    const { written } = await startOnAnyPort(t, {
      ...{ PETSTORE_DATA_DIR: folder, PETSTORE_SIGNUP: 'open', ...env },
    });
    const log = written.stdout + written.stderr;
    assert.equal(log.includes('PETSTORE_SIGNUP is open and TRUST_PROXY is off'), warns, JSON.stringify(env));
  }
});

test('HOST=localhost is one address, so there is no second server without connection limits', () => {
  const { host, baseUrl } = readConfig({ HOST: 'localhost', PORT: '81' });
  assert.deepEqual([host, baseUrl], ['127.0.0.1', 'http://localhost:81/v1']);
});

const all = Object.values(settings);

test('with PORT 0 the welcome, the log and every response show the chosen port', async (t) => {
  const { address, written } = await startOnAnyPort(t, { PETSTORE_DATA_DIR: await temporaryStorage(t) });
  const baseUrl = `${address.replace('127.0.0.1', 'localhost')}/v1`;
  assert.match(written.stdout, new RegExp(`API +${baseUrl}\n`));
  assert.deepEqual(await serversOf(address), [{ url: baseUrl }]);
  const key = /Bearer (pet_\w+)/.exec(written.stdout)?.[1];
  const pets = await fetch(`${address}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  assert.match(pets.headers.get('link') ?? '', new RegExp(`^<${baseUrl}/pets\\?`));
});

test('with PORT 0 the port is reported even without welcome and log, and PETSTORE_BASE_URL is kept', async (t) => {
  const { address } = await startOnAnyPort(t, {
    PETSTORE_DATA_DIR: await temporaryStorage(t),
    PETSTORE_BASE_URL: 'https://pets.example/v1',
    PETSTORE_DEMO: 'off',
    LOG_LEVEL: 'silent',
  });
  assert.deepEqual(await serversOf(address), [{ url: 'https://pets.example/v1' }]);
});

const serversOf = async (address: string) =>
  ((await (await fetch(`${address}/v1/openapi.json`)).json()) as { servers: unknown }).servers;

/** The service with PORT=0, after it has reported its address. */
async function startOnAnyPort(t: TestContext, env: Record<string, string>) {
  const { child, written } = startCommand(t, ['serve'], { PORT: '0', ...env });
  const reported = () =>
    /Petstore is ready[\s\S]*localhost:(\d+)[\s\S]*curl|The free port is (\d+)\./.exec(
      written.stdout + written.stderr,
    );
  await until(() => Boolean(reported()) || child.exitCode !== null);
  const [, welcomed, became] = reported() ?? [];
  assert.ok(welcomed ?? became, written.stderr);
  return { address: `http://127.0.0.1:${welcomed ?? became}`, written };
}

test('the help of serve lists every setting with its meaning and its default, in lines of at most 80 characters', () => {
  const { stdout } = petstore(['serve', '--help']);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  const help = stdout.replaceAll(/\s+/g, ' ');
  for (const setting of all) {
    const meaning = setting.meaning.replaceAll('`', '');
    assert.ok(help.includes(` ${setting.variable} ${meaning} (${shownDefault(setting)})`), setting.variable);
  }
});

test('the page on configuration lists the settings with their defaults and meanings', () => {
  const rows = all.map((setting) => {
    const shown = shownDefault(setting);
    return [`\`${setting.variable}\``, shown === 'none' ? shown : `\`${shown}\``, setting.meaning];
  });
  const widthOf = (column: number) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1), 'Meaning'.length];
  const lines = [['Variable', 'Default', 'Meaning'], widths.map((width) => '-'.repeat(width)), ...rows].map(
    (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`,
  );
  const table = /^\| Variable +\|[\s\S]*?(?=\n\n)/m.exec(textOf('docs/configuration.md'))?.[0];
  assert.equal(table, lines.join('\n'));
});

test('every setting in the pages and guides exists', () => {
  const pages = globSync(
    [
      ...['README.md', 'CONTRIBUTING.md', 'docs/{tour,configuration,operations}.md', 'docs/operations/*.md'],
      'src/reference/description/guides/*.md',
    ],
    { cwd: root },
  );
  const others = [
    'PETSTORE_API_KEY',
    'PETSTORE_GOAL',
    'PETSTORE_PUBLISH',
    'PETSTORE_TEST_DATABASE_URL',
    'PETSTORE_TEST_VALKEY_URL',
  ];
  let values = 0;
  for (const page of pages) {
    const text = textOf(page);
    for (const [name] of text.matchAll(/\bPETSTORE_[A-Z_]*[A-Z]\b/g))
      assert.ok(others.includes(name) || all.some(({ variable }) => variable === name), `${page}: ${name}`);
    for (const { variable, read } of all) {
      for (const [, value = ''] of text.matchAll(new RegExp(`\\b(?<!_)${variable}=([^\\s\`…]+)`, 'g'))) {
        assert.doesNotThrow(() => read(value, variable), page);
        values++;
      }
    }
  }
  assert.ok(values >= 4, String(values));
});

test('several hosts in DATABASE_URL are refused in one line without its password, and other commas are accepted', () => {
  const read = (databaseUrl: string) => readConfig({ DATABASE_URL: databaseUrl }).databaseUrl;
  for (const several of [
    'postgres://me:hunter2@one,two/petstore?target_session_attrs=read-write',
    'postgres://me:hunter2@one:5432,two:5433/petstore',
    'postgresql://one,two',
    'postgres://me:hunter2@one/petstore?host=one,two',
    'postgres:///petstore?sslmode=disable&host=one%2Ctwo',
  ]) {
    assert.throws(() => read(several), {
      message: 'DATABASE_URL must name one host, which must always resolve to the primary server.',
    });
  }
  for (const one of [
    'postgres://me:a,b@one/petstore',
    'postgres://me@one/a,b',
    'postgres://one/a?options=-ca,b',
  ])
    assert.equal(read(one), one);
});

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

for (const [variable, env] of [
  ['OTEL_TRACES_EXPORTER', { OTEL_TRACES_EXPORTER: 'zipkin' }],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', { ...address, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', { ...address, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' }],
] as const)
  test(`${variable} of a kind that the service does not have stops the start`, () => {
    assert.throws(
      () => tracesAreOn(env),
      (error) => error instanceof ConfigError && error.message.startsWith(`${variable} must be `),
    );
  });

test('a default follows the setting that it names, and an empty variable counts as unset', () => {
  assert.equal(readConfig({ PORT: ' 81 ', PETSTORE_BASE_URL: '' }).baseUrl, 'http://localhost:81/v1');
  assert.deepEqual(readConfig({ LOG_LEVEL: ' ', PETSTORE_DEMO: '' }), readConfig({}));
});

test('no setting is reported as unknown', () => {
  const env = Object.fromEntries(all.map(({ variable }) => [variable, '']));
  assert.deepEqual(readConfig({ ...env, PETSTORE_PORT: '1' }).unknownVariables, ['PETSTORE_PORT']);
});
