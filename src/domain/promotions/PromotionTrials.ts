import { Context, DateTime, Effect, Layer, Result } from "effect"
import { CatalogSettings } from "../catalog/CatalogSettings.ts"
import { policyOf } from "../catalog/TypePolicy.ts"
import { Customers } from "../customers/Customers.ts"
import { CustomerOrders } from "../orders/CustomerOrders.ts"
import { CurrentActor, mayNameCustomers } from "../platform/access/Actor.ts"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { type CustomerId, isUuid } from "../platform/ids/Id.ts"
import type { Promotion, PromotionQuote, PromotionTrial } from "./Promotion.ts"
import { PromotionRepo } from "./PromotionRepo.ts"
import {
  evaluatePromotion,
  normalizeCodes,
  type PromotionGain,
  type PromotionReason,
  promotionReasons
} from "./PromotionRules.ts"

class UnknownCode extends notFound("PromotionCode", promotionReasons.unknownCode) {}
class NotEligible extends invalid("NotEligible", "code", (reason: PromotionReason) => reason, "not_eligible") {}

/** Tries codes on an order that is not placed (contract §8, validate). Nothing is used up. */
export class PromotionTrials extends Context.Service<PromotionTrials>()("stoa/domain/promotions/PromotionTrials", {
  make: Effect.gen(function*() {
    const repo = yield* PromotionRepo
    const customers = yield* Customers
    const history = yield* CustomerOrders
    const { types } = yield* CatalogSettings

    const buyerOf = Effect.fnUntraced(function*({ customerGroupIds, customerId }: PromotionTrial) {
      // Shoppers must not choose groups, or they could use every group's promotion.
      if (!mayNameCustomers(yield* CurrentActor)) {
        const own = yield* customers.existingProfile
        return { id: own?.id ?? null, groupIds: own?.groupIds ?? [] }
      }
      const id = typeof customerId === "string" && isUuid<CustomerId>(customerId) ? customerId : null
      return { id, groupIds: customerGroupIds ?? (id === null ? [] : (yield* customers.buyer(id)).groupIds) }
    })

    /** The trial without stored value, which takes and counts for no promotion (contract-commerce §2). */
    const goodsOf = (trial: PromotionTrial): PromotionTrial => {
      const isGoods = ({ entityType }: PromotionTrial["lineItems"][number]) => !policyOf(types, entityType).storedValue
      const apart = trial.lineItems.reduce((sum, line) => isGoods(line) ? sum : sum + line.totalPrice, 0)
      return { ...trial, lineItems: trial.lineItems.filter(isGoods), subtotal: Math.max(0, trial.subtotal - apart) }
    }

    const linesFor = Effect.fnUntraced(function*({ conditions }: Promotion, { lineItems }: PromotionTrial) {
      const slugs = conditions.categories === undefined || conditions.categories.length === 0
        ? undefined
        : yield* repo.categorySlugs(lineItems.map((line) => line.entityId))
      return lineItems.map((line) => ({ ...line, categorySlugs: slugs?.get(line.entityId) ?? [] }))
    })

    /** 404 for an unknown code, 422 with the reason if it does not apply. */
    const validate = Effect.fn("PromotionTrials.validate")(function*(sent: PromotionTrial) {
      const trial = goodsOf(sent)
      const code = normalizeCodes([trial.code])[0]
      const buyer = yield* buyerOf(trial)
      const candidates = code === undefined ? [] : yield* repo.candidates([code], buyer.id, null)
      const candidate = candidates.find(({ promotion }) => promotion.code === code)
      if (candidate === undefined) return yield* new UnknownCode()
      const { promotion, usage } = candidate
      const gain = evaluatePromotion(promotion, {
        lines: yield* linesFor(promotion, trial),
        subtotal: trial.subtotal,
        currency: trial.currency,
        customer: {
          groupIds: buyer.groupIds,
          isKnown: true,
          orderCount: promotion.conditions.firstOrderOnly === true ? yield* history.countOf(buyer.id) : 0
        },
        usage: new Map([[promotion.id, usage]]),
        now: DateTime.toDateUtc(yield* DateTime.now)
      })
      return yield* Effect.fromResult(Result.mapBoth(gain, {
        onFailure: (reason) => new NotEligible(reason),
        onSuccess: (gain) => quoteOf(promotion, gain)
      }))
    })

    return { validate }
  })
}) {
  static readonly layer = Layer.effect(PromotionTrials, PromotionTrials.make)
}

const quoteOf = (promotion: Promotion, { discountAmount, freeShipping }: PromotionGain): PromotionQuote => ({
  totalDiscount: discountAmount,
  freeShipping,
  applied: [{
    promotionId: promotion.id,
    code: promotion.code,
    type: promotion.type,
    discountAmount,
    freeShipping,
    description: promotion.name
  }],
  rejectedCodes: []
})
