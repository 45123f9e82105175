/** Numbers, choices and texts that are the same for the same seed (mulberry32). */
export interface Random {
  /** From 0 up to but not `below`. */
  readonly int: (below: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(from: readonly [A, ...ReadonlyArray<A>]) => A
  /** One of these; undefined of none. */
  readonly oneOf: <A>(from: ReadonlyArray<A>) => A | undefined
  /** Small letters. */
  readonly word: (length: number) => string
}

export const randomOf = (seed: number): Random => {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(from.length)] ?? from[0],
    oneOf: (from) => from[int(from.length)],
    word: (length) => Array.from({ length }, () => String.fromCharCode(97 + int(26))).join("")
  }
}
