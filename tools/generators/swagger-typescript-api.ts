import { Api } from './client';

const { PETSTORE_BASE_URL: baseUrl = '', PETSTORE_API_KEY: key = '' } = process.env;
const headers = { authorization: `Bearer ${key}` };
const { pets, store } = new Api({ baseUrl, baseApiParams: { headers } });

async function run() {
  const { data: pet } = await pets.createPet({ name: 'Ada', categoryId: 1 });
  const { data: both } = await pets.listPets({ id: [1, pet.id] });
  const { data: events } = await store.listEvents({ limit: 5 });
  const error = await store.getOrder(9999).catch((response) => response.error);
  const created = events.flatMap((event) => (event.type === 'pet.created' ? [event] : []));
  console.log(
    JSON.stringify({
      names: both.map(({ name }) => name),
      events: created.map(({ type, data }) => [type, data.name]),
      code: error.code,
    }),
  );
}

run();
