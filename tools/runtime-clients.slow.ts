import assert from 'node:assert/strict';
import { startDemonstration } from './support/demonstration.ts';
import { load } from './support/packages.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { openapiDocuments, tour, tourAsserts } from './support/tour.ts';

interface Pet {
  id: number;
  name: string;
}

interface StoredEvent {
  type: string;
  data: Pet;
}

/** Calls an operation. Resolves to its body, also of an error. */
// biome-ignore lint/suspicious/noExplicitAny: the client has no types
type Call = (id: string, parameters: object, body?: object) => Promise<any>;

async function takeTour(call: Call): Promise<typeof tour> {
  const pet: Pet = await call('createPet', {}, { name: 'Ada', categoryId: 1 });
  const pets: Pet[] = await call('listPets', { id: [1, pet.id] });
  const events: StoredEvent[] = await call('listEvents', { type: ['pet.created'] });
  const { code } = await call('getOrder', { orderId: 9999 });
  return {
    names: pets.map(({ name }) => name),
    events: events.map(({ type, data }) => [type, data.name]),
    code,
  };
}

/** Clients that read a description while they run: each starts with the address of a description and a key. */
const clients: Record<
  string,
  { repository: string; called: string; start(url: string, key: string): Promise<Call> }
> = {
  'swagger-client': {
    repository: 'swagger-api/swagger-js',
    called: '`execute` after `new SwaggerClient`',
    async start(url, key) {
      const SwaggerClient = load('swagger-client', 'swagger-client');
      const client = await new SwaggerClient({ url });
      assert.deepEqual(client.errors, []);
      const securities = { authorized: { bearerAuth: { value: key } } };
      return async (operationId, parameters, requestBody) => {
        const sent = { operationId, parameters, requestBody, securities };
        // biome-ignore lint/suspicious/noExplicitAny: the client has no types
        return (await client.execute(sent).catch(({ response }: any) => response)).body;
      };
    },
  },
  'openapi-client-axios': {
    repository: 'openapistack/openapi-client-axios',
    called: '`init`, and the method of each operation',
    async start(url, key) {
      const OpenAPIClientAxios = load('openapi-client-axios');
      const axiosConfigDefaults = {
        headers: { authorization: `Bearer ${key}` },
        // The arrays of our queries repeat the name.
        paramsSerializer: { indexes: null },
        validateStatus: () => true,
      };
      const client = await new OpenAPIClientAxios({ definition: url, axiosConfigDefaults }).init();
      return async (id, parameters, body) => (await client[id](parameters, body)).data;
    },
  },
};

for (const [name, { repository, called, start }] of Object.entries(clients))
  testTool(
    pinnedTool(name, repository, 'Sends requests', name),
    { called: `${called}, with OpenAPI 3.0, 3.1 and 3.2`, asserts: tourAsserts, runs: true },
    async (t) => {
      const { origin, freshKey } = await startDemonstration(t);
      for (const document of openapiDocuments) {
        const call = await start(`${origin}/v1/${document}`, await freshKey());
        assert.deepEqual(await takeTour(call), tour, document);
      }
    },
  );
