/** Aborts connections at every moment: `npm run proof -- rude --connections N --seed S`. */
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { assertSurvivesBrokenConnections } from '../test/support/rude.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});

test(`${values.connections} connections that clients abort, from seed ${values.seed}`, async (t) => {
  console.log(await assertSurvivesBrokenConnections(t, Number(values.connections), Number(values.seed)));
});
