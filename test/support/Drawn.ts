/** So many of these, drawn without repetition; the same ones for the same seed (mulberry32). */
export const drawn = <A>(from: ReadonlyArray<A>, count: number, seed: number): ReadonlyArray<A> => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
  return from.map((one) => ({ one, place: next() })).sort((one, other) => one.place - other.place).slice(0, count).map(
    ({ one }) => one
  )
}
