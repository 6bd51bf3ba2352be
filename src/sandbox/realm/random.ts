/**
 * Makes a `Math.random` that is seeded anew for each call. V8's own continues, so one call could predict or choose the
 * numbers of the next.
 */
export function makeRandom() {
  let [a, b, c, d] = [0, 0, 0, 0];
  /** Marsaglia's xorshift with 128 bits. */
  const bits = (): number => {
    const t = a ^ (a << 11);
    a = b;
    b = c;
    c = d;
    d = d ^ (d >>> 19) ^ t ^ (t >>> 8);
    return d >>> 0;
  };
  return {
    random: {
      random(): number {
        return ((bits() >>> 5) * 67_108_864 + (bits() >>> 6)) / 9_007_199_254_740_992;
      },
    }.random,
    /** `seed`: a whole number of 48 bits. */
    begin(seed: number): void {
      a = seed | 0;
      b = (seed / 4_294_967_296) | 0;
      c = 0x9e3779b9 | 0;
      d = 0x243f6a88;
      for (let i = 0; i < 12; i += 1) bits();
    },
  };
}

/** Random numbers of one call at a time. */
export type CallRandom = ReturnType<typeof makeRandom>;
