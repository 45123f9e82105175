/** Pseudo-random choices from a seed, so that a failure can be repeated. */
export interface Chance {
  /** A whole number from `from` to `to`, both included. */
  readonly between: (from: number, to: number) => number
  /** True so many times in a hundred. */
  readonly inHundred: (times: number) => boolean
  readonly oneOf: <A>(list: readonly [A, ...ReadonlyArray<A>]) => A
  /** Each of a list with the same likelihood, in its order. */
  readonly someOf: <A>(list: ReadonlyArray<A>, percent: number) => ReadonlyArray<A>
}

/** Marsaglia's xorshift on 32 bits; a seed of zero would stay zero. */
export const chanceOf = (seed: number): Chance => {
  let state = (seed ^ 0x9e3779b9) | 0 || 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  const fraction = (): number => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53
  const between = (from: number, to: number): number => from + Math.floor(fraction() * (to - from + 1))
  const inHundred = (times: number): boolean => between(1, 100) <= times
  return {
    between,
    inHundred,
    oneOf: <A>(list: readonly [A, ...ReadonlyArray<A>]): A => list[between(0, list.length - 1)] ?? list[0],
    someOf: (list, percent) => list.filter(() => inHundred(percent))
  }
}

/** The seed of `STOA_TEST_SEED`, else one of this moment; it stands in every failure. */
export const seedOfRun = (): number => Number(process.env["STOA_TEST_SEED"] ?? Date.now() % 1_000_000_000)
