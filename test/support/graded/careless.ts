/** A program that does the following once. Its argument names its carelessness. */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [careless, file = '', names = ''] = process.argv.slice(2);
const { PETSTORE_BASE_URL, PETSTORE_API_KEY } = process.env;

async function send(method: string, path: string, body?: unknown, attempts = 1): Promise<Response> {
  const answer = await fetch(PETSTORE_BASE_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${PETSTORE_API_KEY}`,
      'content-type': 'application/json',
      ...(careless === 'connections' && { connection: 'close' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => undefined);
  if (answer?.ok) return answer;
  // Retries, although the request may have succeeded.
  if (!answer && careless === 'blind retries' && attempts < 5) return send(method, path, body, attempts + 1);
  if (answer && answer.status >= 500 && careless === 'retries without end') {
    await sleep(20);
    return send(method, path, body);
  }
  if (careless === 'time') return sleep(1_000_000, answer as Response);
  throw new Error(`${method} ${path}: ${answer?.status ?? 'no answer'}`);
}

const addPet = (name: string) => send('POST', '/pets', { name, categoryId: 1 });

switch (careless) {
  case 'pages': {
    // It takes the first page for the whole list.
    const categories = (await (await send('GET', '/categories')).json()) as { id: number }[];
    for (const { id } of categories) await send('PUT', `/categories/${id}`, { name: `Category ${id}` });
    break;
  }
  case 'names':
    await addPet(`Smaug ${Math.random()}`);
    break;
  case 'names in turn':
    // The first run uses the first name, and so on.
    appendFileSync(file, '.');
    await addPet(names.split(',')[readFileSync(file, 'utf8').length - 1] as string);
    break;
  case 'ids in texts': {
    const lizards = await (await send('POST', '/categories', { name: 'Lizards' })).text();
    const [, id = ''] = /"id":(\d+)/.exec(lizards) ?? [];
    // Exact as text, and rounded as a number.
    await addPet(`Of ${id}, ${file === 'rounded' ? Number(id) : id}`);
    break;
  }
  case 'other writers':
    // Decides by what it read, and overwrites the current state.
    await (await send('GET', '/pets?id=2')).json();
    await send('PATCH', '/pets/2', { name: 'Rexy' });
    break;
  case 'what is no concern of it':
    await send('PATCH', '/pets/2', { status: 'pending' });
    break;
  case 'nothing':
    break;
  case 'another key':
    await fetch(`${PETSTORE_BASE_URL}/pets`, { headers: { authorization: 'Bearer x' } });
    break;
  case 'paths':
    await fetch(`${PETSTORE_BASE_URL}/dogs`, { headers: { authorization: `Bearer ${PETSTORE_API_KEY}` } });
    break;
  case 'totals':
    // It takes a list that it could not read for an empty one.
    await addPet('Smaug');
    await send('GET', '/inventory').then(
      async (answer) => console.log(((await answer.json()) as unknown[]).length * 50, 'EUR'),
      () => console.log(0, 'EUR'),
    );
    break;
  case 'processes':
    // This one leaves the group.
    await addPet('Smaug');
    spawn(
      process.execPath,
      [
        '-e',
        `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`,
      ],
      {
        ...{ detached: true, stdio: 'ignore' },
      },
    ).unref();
    while (!existsSync(file)) await sleep(10);
    break;
  case 'files':
    await addPet('Smaug');
    await send('GET', '/pets/1').then(
      async (answer) => writeFileSync(file, await answer.text()),
      () => {},
    );
    break;
  case 'what it leaves':
    // Exits after sending its request, and reads no response.
    request(`${PETSTORE_BASE_URL}/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${PETSTORE_API_KEY}`, 'content-type': 'application/json' },
    }).end('{"name":"Smaug","categoryId":1}', () => process.exit(0));
    break;
  default:
    await addPet('Smaug');
    await addPet('Fafnir');
}
