import type { Facets } from "./SearchDocument.ts"

/** What the index answered: figures and the places of a page, without what is shown of its hits. */
export interface KnownAnswer {
  /** The snapshot of the database in which it was found, as PostgreSQL writes it (`pg_snapshot`). */
  readonly at: string
  readonly total: number
  readonly facets: Facets
  /** The hits of the page, the best first. */
  readonly places: ReadonlyArray<{ readonly id: string; readonly score: number }>
}

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
