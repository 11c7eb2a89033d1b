// npm run proof:rude -- --connections N --seed S: as test/rude-connections.test.ts, for longer.
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { assertBears } from '../test/support/rude.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});

test(`${values.connections} connections that break off, from seed ${values.seed}`, async (t) => {
  console.log(await assertBears(t, Number(values.connections), Number(values.seed)));
});
