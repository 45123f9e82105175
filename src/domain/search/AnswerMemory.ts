import type { Facets } from "./SearchDocument.ts"

/** What the index answered: figures and the places of a page, without what is shown of its hits. */
export interface KnownAnswer {
  /** The snapshot of the database in which it was found, as PostgreSQL writes it (`pg_snapshot`). */
  readonly at: string
  /** What the words of the question meant, a query for each; null where there were none. */
  readonly parts: string | null
  readonly total: number
  readonly facets: Facets
  /** The hits of the page, the best first. */
  readonly places: ReadonlyArray<{ readonly id: string; readonly score: number }>
}

/** What is counted, and by how much it has changed; a value that nothing has any more is left out, as in an answer. */
export const changedBy = (facets: Facets, changes: Facets): Facets =>
  Object.fromEntries(
    Object.entries(facets).map(([facet, values]) => {
      const sums = new Map(Object.entries(values))
      for (const [value, n] of Object.entries(changes[facet] ?? {})) sums.set(value, (sums.get(value) ?? 0) + n)
      return [facet, Object.fromEntries([...sums].filter(([, n]) => n !== 0))]
    })
  )

interface Entry {
  readonly answer: KnownAnswer
  /** In Unix milliseconds. */
  readonly until: number
}

/** So many questions are remembered; the one that nobody has asked for longest goes first. */
const most = 500

/** An answer whose facets have more values than this is not remembered: the memory stays below some 50 MB. */
const mostValues = 2_000

/**
 * How long an answer may be remembered, in ms. Whether it holds is known exactly, but for a database that has lost
 * committed transactions (a fail-over to a replica that was behind) and gives their numbers to others.
 */
export const longest = 5 * 60_000

const valuesOf = (facets: Facets): number =>
  Object.values(facets).reduce((sum, values) => sum + Object.keys(values).length, 0)

/** What a process remembers of the answers of the index. Whether one still holds, only the database can say. */
export class AnswerMemory {
  readonly #entries = new Map<string, Entry>()

  /** The answer that was kept under this name, if it is not too old at the time `now` (Unix milliseconds). */
  find(name: string, now: number): KnownAnswer | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    this.#entries.delete(name)
    if (entry.until <= now) return undefined
    // To the end of the order in which they go.
    this.#entries.set(name, entry)
    return entry.answer
  }

  keep(name: string, answer: KnownAnswer, now: number): void {
    this.#entries.delete(name)
    if (valuesOf(answer.facets) > mostValues) return
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < most) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(name, { answer, until: now + longest })
  }
}
