/** Counts the letters to add, remove, replace or swap with the next one that make one word of another. */
const distance = (one: string, other: string): number => {
  const rows: Array<ReadonlyArray<number>> = [Array.from({ length: other.length + 1 }, (_, n) => n)]
  for (let at = 1; at <= one.length; at++) {
    const row = [at]
    for (let to = 1; to <= other.length; to++) {
      const [above, before] = [rows[at - 1] ?? [], rows[at - 2] ?? []]
      const isSame = one[at - 1] === other[to - 1]
      const isSwapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1]
      row.push(Math.min(
        (above[to] ?? 0) + 1,
        (row[to - 1] ?? 0) + 1,
        (above[to - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[to - 2] ?? 0) + 1 : Infinity
      ))
    }
    rows.push(row)
  }
  return rows[one.length]?.[other.length] ?? Infinity
}

/** Longer words are no typing errors, and comparing them costs time. */
const longest = 64

/** Finds the word that was probably meant: at most one letter in three differs, case does not count. */
export const nearestWord = (word: string, words: ReadonlyArray<string>): string | undefined => {
  if (word.length > longest) return undefined
  const near = words.filter(({ length }) => length <= longest).map((known) => ({
    known,
    away: distance(word.toLowerCase(), known.toLowerCase())
  }))
  const [first] = near.filter(({ away, known }) => away * 3 <= Math.max(3, Math.min(word.length, known.length)))
    .sort((one, other) => one.away - other.away)
  return first?.known
}
