/** A careful program: it adds a pet, orders it, renames another, sets its stock, and counts the pets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CarefulClient } from '../careful-client.ts';

const { PETSTORE_BASE_URL = '', PETSTORE_API_KEY: key = '' } = process.env;
const client = new CarefulClient({
  ...{ origin: PETSTORE_BASE_URL.replace(/\/v1$/, ''), key, now: Date.now },
  maxAttempts: 6,
  sleep(ms) {
    if (ms > 90_000) throw new Error(`To wait for ${ms} ms is too long.`);
    return sleep(ms);
  },
});

const { body: pet } = await client.post('/pets', { name: 'Smaug', categoryId: 1 });
await client.post('/store/orders', { petId: pet.id, quantity: 1 });
const rex = { path: '/pets?id=2', isList: true };
await client.change(rex, { method: 'PATCH', path: '/pets/2' }, () => ({
  body: { name: 'Rexy' },
  isDone: ({ name }) => name === 'Rexy',
}));
const stock = { path: '/inventory/1' };
await client.change(stock, { method: 'PATCH', ...stock }, ({ quantity }) => ({
  body: { quantity: quantity + 10 },
  isDone: (later) => later.quantity === quantity + 10,
}));
const { length } = await client.list('/pets');
if (length !== 21) throw new Error(`There are ${length} pets, not 21.`);
console.log('Smaug is sold, and Rex is Rexy.');
