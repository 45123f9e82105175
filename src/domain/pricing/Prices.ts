import { Context, DateTime, Effect, Layer, Result } from "effect"
import { CatalogSettings } from "../catalog/CatalogSettings.ts"
import { EntityNotFound } from "../catalog/Entity.ts"
import { policyOf, type TypePolicies } from "../catalog/TypePolicy.ts"
import { CurrentActor } from "../platform/access/Actor.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { newId } from "../platform/ids/Id.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { type Price, type PriceFilter, priceOf, type SetPrice } from "./Price.ts"
import type { PriceModifier } from "./PriceModifier.ts"
import { PriceRepo } from "./PriceRepo.ts"
import { resolvePrice } from "./PriceResolution.ts"
import { PriceCandidateRepo, type PriceCandidates, type PricedThing } from "./PriceStatements.ts"

class PriceNotFound
  extends notFound("Price", (slug: string, currency: string) => `No base price configured for ${slug} (${currency}).`)
{}

export interface PricedLine extends PricedThing {
  readonly quantity: number
}

export interface PriceList {
  readonly prices: PageOf<Price>
  readonly modifiers: ReadonlyArray<PriceModifier>
}

/** Sets, lists and resolves prices (spec §4 Pricing, contract §7). Amounts in minor units. */
export class Prices extends Context.Service<Prices>()("stoa/domain/pricing/Prices", {
  make: Effect.gen(function*() {
    const repo = yield* PriceRepo
    const rows = yield* PriceCandidateRepo
    const hooks = yield* Hooks
    const { types } = yield* CatalogSettings

    /** The same natural key overwrites. Runs `pricing.afterCreate` or `pricing.afterUpdate`. */
    const set = Effect.fn("Prices.set")(function*(input: SetPrice) {
      const { organizationId } = yield* CurrentActor
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const price = yield* Effect.fromResult(priceOf(input, { id: newId(), organizationId, now }))
      const written = yield* repo.set(price)
      yield* hooks.after(written.created ? "pricing.afterCreate" : "pricing.afterUpdate", written.price)
      return written.price
    })

    const list = Effect.fn("Prices.list")(function*(filter: PriceFilter, page: PageRequest) {
      return yield* Effect.all({ prices: repo.list(filter, page), modifiers: repo.modifiersFor(filter) }, {
        concurrency: "unbounded"
      })
    })

    /** The explained unit price of a line. 404 if the store has none (contract §7.3). */
    const resolve = Effect.fn("Prices.resolve")(
      function*(line: PricedLine, currency: string, groups: ReadonlyArray<string>, now: Date) {
        const candidates = yield* rows.candidates([line], currency, now)
        const entity = candidates.entities.get(line.entityId.toLowerCase())
        if (entity === undefined) return yield* new EntityNotFound()
        return yield* Effect.fromResult(Result.mapError(
          linePrice(line, candidates, { currency, groups, now, types }),
          () => new PriceNotFound(entity.slug, currency)
        ))
      }
    )

    return {
      set,
      list,
      resolve,
      candidates: rows.candidates
    }
  })
}) {
  static readonly layer = Layer.effect(Prices, Prices.make)
}

export interface PriceBuyer {
  readonly currency: string
  readonly groups: ReadonlyArray<string>
  readonly now: Date
  /** Of the store: what is stored value costs the same for everybody. */
  readonly types: TypePolicies
}

/** The unit price of a line for a buyer, explained; fails if there is none. */
export const linePrice = (line: PricedLine, { entities, modifiers, prices }: PriceCandidates, buyer: PriceBuyer) => {
  const { basePrice = null, type = "" } = entities.get(line.entityId) ?? {}
  const isFixed = policyOf(buyer.types, type).storedValue
  return resolvePrice({
    ...buyer,
    groups: isFixed ? [] : buyer.groups,
    entityId: line.entityId,
    variantId: line.variantId ?? null,
    quantity: line.quantity,
    prices,
    modifiers: isFixed ? [] : modifiers,
    basePrice
  })
}

/** In the order of the lines; null without a price. */
export const linePricesOf = (lines: ReadonlyArray<PricedLine>, candidates: PriceCandidates, buyer: PriceBuyer) =>
  lines.map((line) => Result.getOrElse(linePrice(line, candidates, buyer), () => null))
