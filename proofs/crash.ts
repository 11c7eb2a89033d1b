// npm run proof:crash -- --rounds N --seed S: as test/crash.test.ts, for longer.
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { crash } from '../test/support/crash/rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});
const rounds = Number(values.rounds);

test(`${rounds} crashes under load from seed ${values.seed}`, async (t) => {
  const startMs = performance.now();
  const sum = { answered: 0, refused: 0, unanswered: 0, kept: 0, replayed: 0, events: 0 };
  let round = 0;
  for await (const counts of crash(t, rounds, Number(values.seed))) {
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
    console.log(`round ${++round}: ${inWords(counts)}`);
  }
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`${round} rounds in ${seconds} s: ${inWords(sum)}`);

  function inWords({ answered, refused, unanswered, kept, replayed, events }: typeof sum): string {
    const cutOff = `${unanswered} cut off (${kept} kept)`;
    return `${answered} writes answered, ${refused} refused, ${cutOff}, ${replayed} replayed, ${events} events`;
  }
});
