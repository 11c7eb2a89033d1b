import { createPet, defaults, getOrder, listEvents, listPets } from './client';

const { PETSTORE_BASE_URL: baseUrl = '', PETSTORE_API_KEY: key = '' } = process.env;
Object.assign(defaults, { baseUrl, headers: { authorization: `Bearer ${key}` } });

async function run() {
  const pet = await createPet({ name: 'Ada', categoryId: 1 });
  if (pet.status !== 201) throw new Error(`${pet.status}`);
  const both = await listPets({ id: [1, pet.data.id] });
  const events = await listEvents({ $type: ['pet.created'] });
  const order = await getOrder(9999);
  if (both.status !== 200 || events.status !== 200 || order.status !== 404) throw new Error();
  console.log(
    JSON.stringify({
      names: both.data.map(({ name }) => name),
      events: events.data.flatMap((event) =>
        event.type === 'pet.created' ? [[event.type, event.data.name]] : [],
      ),
      code: order.data.code,
    }),
  );
}

run();
