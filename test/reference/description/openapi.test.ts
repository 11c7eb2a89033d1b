import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { operations } from '../../../src/api/operations.ts';
import { errorCodes } from '../../../src/foundation/errors.ts';
import { type JsonObject, openapiVersions } from '../../../src/reference/description/schemas.ts';
import {
  describeRehearsedWorkflows,
  describeWorkflows,
} from '../../../src/reference/description/workflows.ts';
import { eventsDescription } from '../../support/asyncapi.ts';
import {
  apis,
  baseUrl,
  description,
  inJsonSchema,
  labIn,
  resolve,
  storeIn,
  validator,
} from '../../support/description.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { command } from '../../support/service.ts';
import { textOf } from '../../support/tree.ts';

test('openapi.json matches the code; "npm run generate" updates it', async () => {
  const golden = textOf('openapi.json');
  assert.equal((await command(['openapi'])).stdout, golden);
  assert.deepEqual(parse((await command(['openapi', '--yaml'])).stdout), JSON.parse(golden));
});

test('the server in the description follows PETSTORE_BASE_URL', async () => {
  const env = { PETSTORE_BASE_URL: 'https://pets.example/v1/' };
  const { stdout } = await command(['openapi'], env);
  assert.deepEqual(JSON.parse(stdout).servers, [{ url: 'https://pets.example/v1' }]);
  assert.doesNotMatch(stdout, /localhost/);
});

test('"openapi --lab" prints the description of the lab', async () => {
  const lab = apis.find(({ start }) => start === '/lab');
  assert.deepEqual(JSON.parse((await command(['openapi', '--lab'])).stdout), lab?.description);
  const env = { PETSTORE_BASE_URL: 'https://pets.example/store/v1' };
  const { servers } = parse((await command(['openapi', '--lab', '--yaml'], env)).stdout);
  assert.deepEqual(servers, [{ url: 'https://pets.example/store/lab' }]);
});

test('no two operations of all APIs have the same id', () => {
  const ids = apis.flatMap(({ operations }) => operations.map(({ id }) => id));
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) < i),
    [],
  );
});

for (const { start, url, description } of apis) {
  test(`the description at ${start} is public in each version as JSON and YAML, with an ETag`, async (t) => {
    const store = await startPetstore(t, { seed: false });
    const describe = start === '/v1' ? storeIn : labIn;
    for (const version of openapiVersions) {
      const path = `${start}/openapi${version === '3.0' ? '' : `-${version}`}`;
      await assertDocument(store, path, describe(version));
    }
  });

  test(`every schema, parameter, header and body at ${start} has an example, and each is valid against its own schema`, () => {
    assertExamples(description);
    assertExamples(inJsonSchema.get(description));
  });

  test(`every component at ${start} is used`, () => {
    const text = JSON.stringify(description);
    const { securitySchemes: _, ...kinds } = description.components;
    for (const [kind, components] of Object.entries<object>(kinds))
      for (const name of Object.keys(components))
        assert.ok(text.includes(`"#/components/${kind}/${name}"`), `${kind}/${name}`);
  });

  test(`no property at ${start} has a default, which would make it required in typed clients`, () => {
    const { schemas } = description.components as { schemas: Record<string, JsonObject> };
    for (const [name, { properties = {} }] of Object.entries(schemas))
      for (const [property, schema] of Object.entries(properties as Record<string, JsonObject>))
        assert.ok(!('default' in schema), `${name}.${property}`);
  });

  test(`every operation at ${start} describes each of its statuses, and every error example has the status of its code`, () => {
    assertErrors(description);
  });

  test(`the description at ${start} shows the limits of one key`, () => {
    const { headers } = description.components;
    const [, perMinute, perDay] = /q=(\d+);.*q=(\d+);/.exec(headers.RateLimitPolicy.example) ?? [];
    assert.equal(headers.XRateLimitLimit.example, Number(perMinute));
    assert.match(headers.RateLimit.example, new RegExp(`r=${Number(perMinute) - 1};`));
    assert.ok(Number(perDay) > Number(perMinute), url);
  });
}

test('the AsyncAPI document and the Arazzo documents are public as JSON and YAML, with an ETag', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await assertDocument(store, '/v1/asyncapi', eventsDescription);
  await assertDocument(store, '/v1/arazzo', describeWorkflows(baseUrl));
  await assertDocument(store, '/lab/arazzo', describeRehearsedWorkflows(baseUrl));
});

/** Compares both forms of a served document with the expected one. */
async function assertDocument(store: Petstore, path: string, document: object): Promise<void> {
  const json = await store.send('GET', `${path}.json`, { key: null });
  assert.deepEqual(json.body, document);
  const yaml = await store.send('GET', `${path}.yaml`, { key: null });
  assert.deepEqual(parse(yaml.text), document);
  for (const { headers } of [json, yaml]) assert.match(headers.etag as string, /^"/);
  const known = { 'if-none-match': json.headers.etag as string };
  assert.equal((await store.send('GET', `${path}.json`, { key: null, headers: known })).status, 304);
}

/** Checks that everything visible in viewers has a valid example. */
function assertExamples(document: typeof description): void {
  const { components, paths } = document;
  // Errors have examples in their responses. A shared Idempotency-Key would be refused.
  const { Error: _error, Problem: _problem, FieldProblem: _field, ...schemas } = components.schemas;
  const operations = Object.values<JsonObject>(paths).flatMap((item) => Object.values(item) as JsonObject[]);
  const parameters = operations.flatMap((operation) => operation.parameters as JsonObject[]);
  const responses = operations.flatMap((operation) => Object.values(operation.responses as JsonObject));
  const bodies = operations.flatMap(({ requestBody }) => (requestBody ? [requestBody as JsonObject] : []));
  const contents = [...bodies, ...(responses as JsonObject[])].flatMap(
    (holder) => Object.values((resolve(holder, document).content as JsonObject) ?? {}) as JsonObject[],
  );
  const nodes = [
    ...Object.values<JsonObject>(schemas),
    ...Object.values<JsonObject>(components.headers),
    ...parameters
      .map((parameter) => resolve(parameter, document))
      .filter(({ name }) => name !== 'Idempotency-Key'),
    ...contents,
  ];
  for (const node of nodes) {
    const examples = [
      ...examplesOf(node),
      ...examplesOf(resolve((node.schema ?? {}) as JsonObject, document)),
    ];
    assert.ok(examples.length > 0, `no example: ${JSON.stringify(node).slice(0, 200)}`);
  }
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [example, schema] of examplesOf(value as JsonObject)) {
      const validate = validator(schema, document);
      assert.ok(validate(example), `${JSON.stringify(example)}: ${JSON.stringify(validate.errors)}`);
    }
    Object.values(value).forEach(visit);
  };
  visit(document);
}

/** The examples of a schema, parameter, header or content, each with its schema. */
function examplesOf(node: JsonObject): [unknown, JsonObject][] {
  const isSchema =
    typeof node.type === 'string' || Array.isArray(node.type) || 'oneOf' in node || 'anyOf' in node;
  const schema = (isSchema ? node : node.schema) as JsonObject | undefined;
  if (!schema || typeof schema !== 'object') return [];
  const { examples = {} } = node;
  const named = Array.isArray(examples)
    ? examples
    : Object.values(examples as Record<string, { value: unknown }>).map(({ value }) => value);
  return [...('example' in node ? [node.example] : []), ...named].map((example) => [example, schema]);
}

test('a nullable status has the values of PetStatus and null, without a choice that generators do not read', () => {
  const { PetPatch, PetStatus } = description.components.schemas;
  const { properties } = PetPatch;
  assert.deepEqual(properties.status.enum, [...PetStatus.enum, null]);
  const fits = validator(properties.status);
  for (const value of ['available', 'pending', 'sold', null]) assert.ok(fits(value), `${value}`);
  for (const value of ['lost', '', 0]) assert.ok(!fits(value), `${value}`);
});

function assertErrors(document: typeof description): void {
  type Described = { operationId: string; responses: Record<string, JsonObject> };
  type Examples = Record<string, { value: { code: keyof typeof errorCodes; status: number } }>;
  const items = Object.values<Record<string, Described>>(document.paths);
  for (const { operationId, responses } of items.flatMap((item) => Object.values(item))) {
    for (const [status, reference] of Object.entries(responses)) {
      const response = resolve(reference, document);
      assert.ok(response.description, `${operationId} ${status}`);
      if (Number(status) < 400) continue;
      const { 'application/json': json, ...others } = response.content as { [type: string]: unknown };
      assert.deepEqual(others, {});
      for (const { value } of Object.values((json as { examples: Examples }).examples)) {
        assert.equal(String(value.status), status);
        assert.equal(errorCodes[value.code][0], value.status);
      }
    }
    assert.ok('401' in responses && '503' in responses, operationId);
  }
}

test('the description marks deprecated, beta and experimental operations, and those that should not be tried', () => {
  const marked = (name: string) =>
    Object.values<JsonObject>(description.paths)
      .flatMap((item) => Object.values(item) as JsonObject[])
      .filter((operation) => name in operation)
      .map((operation) => [operation.operationId, operation[name]]);
  assert.deepEqual(marked('deprecated'), [['getPet', true]]);
  assert.deepEqual(marked('x-sunset'), [['getPet', '2030-12-05']]);
  assert.deepEqual(marked('x-deprecated-sunset'), [['getPet', '2030-12-05']]);
  assert.deepEqual(marked('x-hideTryItPanel'), [['listOrders', true]]);
  assert.deepEqual(
    Object.fromEntries(marked('x-stability')),
    Object.fromEntries(operations.flatMap(({ id, stability }) => (stability ? [[id, stability]] : []))),
  );
});

test('printing the description does not touch a data folder', async (t) => {
  const folder = temporaryFolder(t);
  assert.equal((await command(['openapi'], { PETSTORE_DATA_DIR: `${folder}/none` })).status, 0);
  assert.ok(!existsSync(`${folder}/none`));
});
