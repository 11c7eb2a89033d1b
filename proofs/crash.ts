/** Kills the service under load and checks that every answered write is kept and delivered: `npm run proof -- crash --rounds N --seed S`. */
import { test } from 'node:test';
import { crash } from '../test/support/crash/rounds.ts';
import { type CrashRound, noCounts } from '../test/support/crash/store.ts';
import { readNumbers } from './support/options.ts';

const { rounds, seed } = readNumbers({ rounds: 50 });

test(`${rounds} crashes under load from seed ${seed}`, async (t) => {
  const startMs = performance.now();
  const sum: CrashRound = { ...noCounts };
  let round = 0;
  for await (const counts of crash(t, rounds, seed)) {
    for (const name of Object.keys(sum) as (keyof CrashRound)[]) sum[name] += counts[name];
    console.log(`round ${++round}: ${inWords(counts)}`);
  }
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`${round} rounds in ${seconds} s: ${inWords(sum)}`);

  function inWords(counts: CrashRound): string {
    const { answered, refused, unanswered, kept, replayed } = counts;
    const writes = `${answered} writes answered, ${refused} refused, ${unanswered} cut off (${kept} kept), ${replayed} replayed`;
    return `${writes}, ${counts.events} events, ${counts.received} sent to the webhook (${counts.again} again)`;
  }
});
