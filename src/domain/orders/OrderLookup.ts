import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { PageOf } from "../paging/Paging.ts"
import type { OrderHit } from "./OrderHit.ts"
import { lookupSize, type LookupWords, OrderLookupRepo } from "./OrderLookupRepo.ts"

/** Digits of a number without the zeros before them may be few. */
const digitsOf = (text: string): string | null => (/^\d{1,19}$/.test(text) ? text.padStart(6, "0") : null)

const wordsOf = (text: string): LookupWords => ({
  number: text.toUpperCase(),
  digits: digitsOf(text),
  beginning: text.toLowerCase()
})

/** Finds orders for staff by what a caller remembers of them (contract §4.4). */
export class OrderLookup extends Context.Service<OrderLookup, {
  /**
   * By number, by the digits at its end in any year, or by the beginning of an e-mail address, a full name or a last
   * name, in any case. One page of at most 50, newest first.
   */
  readonly find: (text: string) => Effect.Effect<PageOf<OrderHit>, never, CurrentActor>
}>()("stoa/domain/orders/OrderLookup") {
  static readonly layer = Layer.effect(
    OrderLookup,
    Effect.map(OrderLookupRepo, (repo) => ({
      find: Effect.fn("OrderLookup.find")(function*(text: string) {
        const items = yield* repo.find(wordsOf(text.trim()))
        return { items, page: 1, limit: lookupSize, total: items.length }
      })
    }))
  )
}
