/** Loses the primary of PostgreSQL under load, by a switch and by a crash: `npm run proof -- failover`. `--quick` does only the switch. */
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { failOver, type Way } from '../test/support/failover/rounds.ts';
import { haproxy } from '../test/support/load-balancers.ts';
import { whyNoPostgres } from '../test/support/postgres-cluster.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ways: Way[] = values.quick ? ['a planned switch'] : ['a planned switch', 'a crash of the primary'];

for (const endsSessions of values.quick ? [false] : [false, true]) {
  const proxy = `behind HAProxy that ${endsSessions ? 'ends' : 'keeps'} sessions with a server that is down`;
  test(proxy, { skip: whyNoPostgres() || haproxy.needs.skip }, async (t) => {
    console.log(proxy);
    for await (const line of failOver(t, ways, endsSessions)) console.log(`  ${line}`);
  });
}
