/** A whole number from 0 up to, but not including, the argument. */
export type Random = (below: number) => number;

/** Mulberry32: the same numbers each time from the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export const pick = <Item>(items: readonly Item[], random: Random) => items[random(items.length)] as Item;
