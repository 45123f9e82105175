import { Result } from "effect"
import type { PromotionId } from "../platform/ids/Id.ts"
import { Minor, minor } from "../platform/money/Money.ts"
import {
  evaluatePromotion,
  normalizeCodes,
  type PromotionGain,
  type PromotionOrder,
  type PromotionReason,
  promotionReasons,
  type PromotionRow,
  type PromotionType
} from "./PromotionRules.ts"

/** The amounts of a list add up to the order's discount. Minor units. */
export interface AppliedPromotion extends PromotionGain {
  readonly promotionId: PromotionId
  readonly code: string | null
  readonly type: PromotionType
  readonly description: string
}

export interface RejectedCode {
  readonly code: string
  readonly reason: PromotionReason
}

export interface AppliedPromotions {
  readonly applied: ReadonlyArray<AppliedPromotion>
  readonly rejectedCodes: ReadonlyArray<RejectedCode>
  readonly discountTotal: Minor
  readonly freeShipping: boolean
}

const byText = (left: string, right: string): number => left < right ? -1 : left > right ? 1 : 0
const byPriority = (left: PromotionRow, right: PromotionRow): number =>
  left.priority - right.priority || byText(left.id, right.id)

const normalCode = (promotion: PromotionRow): string | undefined => normalizeCodes([promotion.code ?? ""])[0]

/** Applies in order until the subtotal is used up (contract 3.3). */
const limitTo = (subtotal: number, promotions: ReadonlyArray<AppliedPromotion>): ReadonlyArray<AppliedPromotion> => {
  let left = subtotal
  return promotions.flatMap((promotion) => {
    const amount = Math.min(promotion.discountAmount, left)
    left -= amount
    return Result.match(minor(amount, "discount"), {
      onFailure: () => [],
      onSuccess: (discountAmount) => amount > 0 || promotion.freeShipping ? [{ ...promotion, discountAmount }] : []
    })
  })
}

const noDiscount = Minor.make(0)
const isSame = (left: AppliedPromotion, right: AppliedPromotion): boolean => left.promotionId === right.promotionId

interface Offer {
  readonly applied: ReadonlyArray<AppliedPromotion>
  readonly discountTotal: number
  readonly freeShipping: boolean
}

const offerOf = (subtotal: number, promotions: ReadonlyArray<AppliedPromotion>): Offer => {
  const applied = limitTo(subtotal, promotions)
  return {
    applied,
    discountTotal: applied.reduce((total, promotion) => total + promotion.discountAmount, 0),
    freeShipping: applied.some((promotion) => promotion.freeShipping)
  }
}

const isBetter = (offer: Offer, than: Offer): boolean =>
  offer.discountTotal > than.discountTotal ||
  (offer.discountTotal === than.discountTotal && offer.freeShipping && !than.freeShipping)

/** The stack of all stackable promotions or a single other one, whichever saves more; the stack wins ties. */
const bestOffer = (
  subtotal: number,
  gains: ReadonlyArray<{ readonly stackable: boolean; readonly promotion: AppliedPromotion }>
): Offer =>
  gains.filter((gain) => !gain.stackable)
    .map((gain) => offerOf(subtotal, [gain.promotion]))
    .reduce(
      (best, offer) => isBetter(offer, best) ? offer : best,
      offerOf(subtotal, gains.filter((gain) => gain.stackable).map((gain) => gain.promotion))
    )

/**
 * Applies automatic and named promotions, by priority and then id (contract 8.4), each on the undiscounted order. A
 * non-stackable one applies only alone, and only when it saves more than the rest. Automatic promotions that do not
 * apply are silent, named ones are rejected with the reason.
 */
export const applyPromotions = (
  order: PromotionOrder & {
    readonly promotions: ReadonlyArray<PromotionRow>
    readonly codes: ReadonlyArray<string>
  }
): AppliedPromotions => {
  const codes = normalizeCodes(order.codes)
  const rows = [...new Map(order.promotions.map((row) => [row.id, row])).values()].sort(byPriority)
  const named = new Map(codes.map((code) => [code, rows.find((row) => normalCode(row) === code)] as const))
  const reasons = new Map<string, PromotionReason>()
  const gains = rows
    .filter((row) => row.isAutomatic || [...named.values()].includes(row))
    .flatMap((row) =>
      Result.match(evaluatePromotion(row, order), {
        onFailure: (reason) => {
          reasons.set(row.id, reason)
          return []
        },
        onSuccess: (gain) => [{
          stackable: row.stackable,
          promotion: { ...gain, promotionId: row.id, code: row.code, type: row.type, description: row.name }
        }]
      })
    )
  const best = bestOffer(order.subtotal, gains)
  const stackWon = gains.some((gain) => gain.stackable && best.applied.some((one) => isSame(one, gain.promotion)))
  for (const { promotion, stackable } of gains) {
    if (best.applied.some((one) => isSame(one, promotion))) continue
    const exhausted = stackable && stackWon
    reasons.set(promotion.promotionId, exhausted ? promotionReasons.noDiscount : promotionReasons.notCombinable)
  }
  const rejectedCodes = [...named].flatMap(([code, row]) => {
    const reason = row === undefined ? promotionReasons.unknownCode : reasons.get(row.id)
    return reason === undefined ? [] : [{ code, reason }]
  })
  return {
    applied: best.applied,
    rejectedCodes,
    discountTotal: Result.getOrElse(minor(best.discountTotal, "discount"), () => noDiscount),
    freeShipping: best.freeShipping
  }
}
