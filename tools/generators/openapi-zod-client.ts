import { isErrorFromAlias } from '@zodios/core';
import { createApiClient } from './client';

const { PETSTORE_BASE_URL: baseUrl = '', PETSTORE_API_KEY: key = '' } = process.env;
const headers = { authorization: `Bearer ${key}` };
const client = createApiClient(baseUrl, { axiosConfig: { headers } });

async function run() {
  const pet = await client.createPet({ name: 'Ada', categoryId: 1 });
  const both = await client.listPets({ queries: { id: [1, pet.id] } });
  const events = await client.listEvents({ queries: { type: ['pet.created'] } });
  const error = await client.getOrder({ params: { orderId: 9999 } }).catch((error) => error);
  console.log(
    JSON.stringify({
      names: both.map(({ name }) => name),
      events: events.flatMap((event) =>
        event.type === 'pet.created' ? [[event.type, event.data.name]] : [],
      ),
      code: isErrorFromAlias(client.api, 'getOrder', error) && error.response.data.code,
    }),
  );
}

run();
