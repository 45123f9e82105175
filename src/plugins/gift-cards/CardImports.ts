import { Effect, Struct } from "effect"
import { invalid, type PluginDatabase } from "stoa/plugin"
import { cards } from "./GiftCard.ts"
import { plainCode } from "./GiftCardCode.ts"
import { GiftCardOptions } from "./GiftCardOptions.ts"
import { GiftCards, type NewCard } from "./GiftCards.ts"

class ImportedAboveMaximum extends invalid(
  "ImportedAboveMaximum",
  (at: number, _most: number) => `cards.${at}.amount`,
  (at: number, most: number) => `cards.${at}.amount must not be higher than ${most}.`
) {}
class ImportedTwice extends invalid(
  "ImportedTwice",
  (at: number) => `cards.${at}.code`,
  (at: number) => `cards.${at}.code stands in the list before.`
) {}
/** A card of another system, with what is left on it. */
export interface ImportedCard extends NewCard {
  readonly code: string
}

/** Issues cards with codes that people have; codes that the store knows are left as they are. All or none; 422. */
export const importCards = Effect.fn("GiftCards.import")(
  function*(db: PluginDatabase, given: ReadonlyArray<ImportedCard>) {
    const [{ conceal, write }, { maxBalancePerCard }] = [yield* GiftCards, yield* GiftCardOptions]
    const all = given.map((card) => ({ ...card, code: plainCode(card.code), digests: conceal(card.code).digests }))
    const high = all.findIndex(({ amount }) => amount > maxBalancePerCard)
    if (high >= 0) return yield* new ImportedAboveMaximum(high, maxBalancePerCard)
    const codes = all.map(({ code }) => code)
    const twice = codes.findIndex((code, n) => codes.indexOf(code) < n)
    if (twice >= 0) return yield* new ImportedTwice(twice)
    const found = yield* db.table(cards).list({ codeDigest: { in: all.flatMap((card) => card.digests) } })
    const known = new Set(found.map(({ codeDigest }) => codeDigest))
    const fresh = all.filter((card) => !card.digests.some((digest) => known.has(digest)))
    yield* write(fresh.map(Struct.omit(["digests"])))
    return { imported: fresh.length, known: all.length - fresh.length }
  },
  (work, db) => db.transaction(work)
)
