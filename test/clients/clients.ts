import assert from 'node:assert/strict';

/** A client that the guide "Generate a client" explains, and the program that uses it. */
export interface Client {
  /** Its folder in `tours`. */
  name: string;
  /** The heading in the guide with its commands. */
  heading: string;
  /** The toolchains that it needs beside Node.js and Python. */
  needs: string[];
  /** The shell commands in its folder that check and compile it after generation. */
  build: string[];
  /** The command that runs the tour. */
  program: string;
  /** The package that generates it. */
  generator: string;
  /** The repository of the generator, on GitHub. */
  repository: string;
  /** Whether it is also generated from OpenAPI 3.1. */
  readsJsonSchema?: boolean;
  /** Where users extend it, to add what it does not do by itself. */
  hook: string;
}

const typescript = { needs: [], build: ['tsc'], program: 'node build/tour.js' };
const go = { needs: ['go'], build: ['go vet ./...', 'go build .'], program: './tour' };
const python = {
  needs: [],
  build: ['MYPYPATH=petstore mypy --strict --follow-imports silent tour.py'],
  program: 'PYTHONPATH=petstore python tour.py',
};

const openapiGenerator = {
  generator: 'openapi-generator-cli',
  repository: 'OpenAPITools/openapi-generator',
};

/** The slowest first: two run at once, and both should end together. */
export const clients: Client[] = [
  {
    name: 'oapi-codegen',
    heading: 'oapi-codegen for Go',
    ...go,
    generator: 'github.com/oapi-codegen/oapi-codegen/v2',
    repository: 'oapi-codegen/oapi-codegen',
    hook: '`petstore.WithHTTPClient(doer)` takes anything that has the method `Do`, such as an `http.Client` whose `Transport` retries.',
  },
  {
    name: 'openapi-generator-rust',
    heading: 'openapi-generator for Rust',
    needs: ['cargo'],
    build: ['cargo build --quiet --locked'],
    program: 'target/debug/tour',
    ...openapiGenerator,
    hook: 'A middleware of `reqwest-middleware` in the `client` of the `Configuration` can retry.',
  },
  {
    name: 'openapi-generator-go',
    heading: 'openapi-generator for Go',
    ...go,
    ...openapiGenerator,
    hook: 'The `HTTPClient` of the `Configuration` is an `http.Client`, whose `Transport` can retry.',
  },
  {
    name: 'openapi-generator-java',
    heading: 'openapi-generator for Java',
    needs: ['java', 'mvn'],
    build: ['mvn --quiet --batch-mode --no-transfer-progress compile'],
    program: 'java -cp "tour/target/classes:$(cat tour/target/classpath)" Tour',
    ...openapiGenerator,
    hook: 'The client of the JDK has no place for retries, so wrap the calls; `setReadTimeout` of the `ApiClient` sets a timeout.',
  },
  {
    name: 'openapi-generator-python',
    heading: 'openapi-generator for Python',
    ...python,
    ...openapiGenerator,
    hook: 'By itself it retries only GET, PUT and DELETE, after 429 and 503. `Configuration(retries=…)` takes a `urllib3.Retry`, which can also retry after other failures and with other methods.',
  },
  {
    name: 'openapi-generator-typescript',
    heading: 'openapi-generator for TypeScript',
    ...typescript,
    ...openapiGenerator,
    hook: '`new Configuration({ fetchApi })` takes a `fetch` that retries.',
  },
  {
    name: 'openapi-python-client',
    readsJsonSchema: true,
    heading: 'openapi-python-client',
    ...python,
    generator: 'openapi-python-client',
    repository: 'openapi-generators/openapi-python-client',
    hook: '`AuthenticatedClient(…, httpx_args={"transport": …})` takes a transport of httpx that retries.',
  },
  {
    name: 'orval',
    readsJsonSchema: true,
    heading: 'orval',
    ...typescript,
    // It writes the address into the client.
    generator: 'orval',
    repository: 'orval-labs/orval',
    hook: 'A `mutator` in its configuration replaces `fetch`.',
    build: [`sed -i 's|http://[^/]*/v1|\${process.env.PETSTORE_BASE_URL}|' petstore.ts`, ...typescript.build],
  },
  {
    name: 'hey-api',
    readsJsonSchema: true,
    heading: 'Hey API',
    ...typescript,
    generator: '@hey-api/openapi-ts',
    repository: 'hey-api/openapi-ts',
    hook: '`createClient({ fetch })` takes a `fetch` that retries.',
  },
  {
    name: 'openapi-typescript',
    readsJsonSchema: true,
    heading: 'openapi-typescript and openapi-fetch',
    ...typescript,
    generator: 'openapi-fetch',
    repository: 'openapi-ts/openapi-typescript',
    hook: '`createClient({ fetch })` takes a `fetch` that retries.',
  },
];

/** The clients with these names, or all if none is given. */
export function chosenClients(names: readonly string[]): Client[] {
  const unknown = names.filter((name) => !clients.some((client) => client.name === name));
  assert.deepEqual(unknown, [], `Clients: ${clients.map(({ name }) => name).join(', ')}`);
  return clients.filter(({ name }) => names.length === 0 || names.includes(name));
}
