import { Effect } from "effect"
import type { PluginDatabase } from "stoa/plugin"
import { Pos } from "../pos/index.ts"
import { assignments } from "./Tables.ts"

/**
 * Counts the guests at the tables of transactions, for prices that depend on them. Splits and merges of a bill have its guests.
 * Transactions without a table, or whose guests are not known, have no entry. Two statements.
 */
export const guestsOf = Effect.fn("Restaurant.guestsOf")(
  function*(db: PluginDatabase, transactionIds: ReadonlyArray<string>) {
    const sources = (yield* (yield* Pos).sources(transactionIds)).filter(({ isFar }) => !isFar)
    const seated = yield* db.table(assignments).list({
      transactionId: { in: sources.map(({ id }) => id) },
      leftAt: null,
      guests: { gt: 0 }
    })
    const guests = new Map<string, number>()
    for (const source of sources) {
      for (const one of seated) {
        if (one.transactionId === source.id) guests.set(source.of, (guests.get(source.of) ?? 0) + (one.guests ?? 0))
      }
    }
    return guests
  }
)
