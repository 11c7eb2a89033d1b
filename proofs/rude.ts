/** Aborts connections at every moment: `npm run proof -- rude --connections N --seed S`. */
import { test } from 'node:test';
import { assertSurvivesBrokenConnections } from '../test/support/rude.ts';
import { readNumbers } from './support/options.ts';

const { connections, seed } = readNumbers({ connections: 10_000 });

test(`${connections} connections that clients abort, from seed ${seed}`, async (t) => {
  console.log(await assertSurvivesBrokenConnections(t, connections, seed));
});
