import { Result, Schema } from "effect"
import type { EntityId, PromotionId } from "../platform/ids/Id.ts"
import { type Minor, minor, percentOf } from "../platform/money/Money.ts"

export const PromotionType = Schema.Literals([
  "percentage_off_order",
  "fixed_off_order",
  "percentage_off_item",
  "fixed_off_item",
  "free_shipping",
  "buy_x_get_y"
])
export type PromotionType = typeof PromotionType.Type

export const normalizeCodes = (codes: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(codes.map((code) => code.trim().toUpperCase()))].filter((code) => code !== "")

/** An absent or empty condition admits everything. Amounts in minor units. */
export interface PromotionConditions {
  readonly minimumOrderValue?: number | undefined
  readonly minimumQuantity?: number | undefined
  readonly entityTypes?: ReadonlyArray<string> | undefined
  readonly categories?: ReadonlyArray<string> | undefined
  readonly customerGroups?: ReadonlyArray<string> | undefined
  readonly firstOrderOnly?: boolean | undefined
}

/**
 * `value` is a percentage 0 to 100 with decimals, or minor units of `currency`; null means "no limit" or "open"
 * (contract 8).
 */
export interface PromotionRow {
  readonly id: PromotionId
  readonly code: string | null
  readonly name: string
  readonly type: PromotionType
  readonly value: number
  readonly currency: string | null
  readonly buyQuantity: number | null
  readonly getQuantity: number | null
  readonly isAutomatic: boolean
  readonly isActive: boolean
  readonly stackable: boolean
  readonly priority: number
  readonly conditions: PromotionConditions
  readonly usageLimitTotal: number | null
  readonly usageLimitPerCustomer: number | null
  readonly validFrom: Date | null
  readonly validUntil: Date | null
}

/** A fixed promotion without a currency has the store's currency (contract §8). */
export const inCurrency = (promotion: PromotionRow, currency: string): PromotionRow => ({
  ...promotion,
  currency: promotion.currency ?? currency
})

/** Limits `firstOrderOnly` to one use: only the table detects two concurrent first orders. */
export const customerLimit = ({ conditions, usageLimitPerCustomer }: PromotionRow): number | null =>
  conditions.firstOrderOnly === true ? Math.min(1, usageLimitPerCustomer ?? 1) : usageLimitPerCustomer

/** `totalPrice` is before any discount. Minor units. */
export interface PromotionLine {
  readonly entityId: EntityId
  readonly entityType: string
  readonly categorySlugs: ReadonlyArray<string>
  readonly quantity: number
  readonly unitPrice: number
  readonly totalPrice: number
}

/** The database enforces the limits again. */
export interface PromotionUsage {
  readonly total: number
  readonly byCustomer: number
}

export interface PromotionOrder {
  readonly lines: ReadonlyArray<PromotionLine>
  readonly subtotal: number
  readonly currency: string
  /** A guest without an e-mail address cannot use a promotion limited per customer. */
  readonly customer: {
    readonly isKnown: boolean
    readonly groupIds: ReadonlyArray<string>
    readonly orderCount: number
  }
  readonly usage: ReadonlyMap<string, PromotionUsage>
  readonly now: Date
}

export const promotionReasons = {
  unknownCode: "This promotion code does not exist.",
  inactive: "This promotion is not active.",
  outsideWindow: "This promotion is not valid at this time.",
  minimumOrderValue: "The order does not reach the minimum order value of this promotion.",
  minimumQuantity: "The order does not reach the minimum quantity of this promotion.",
  groupNotEligible: "This promotion is for other customer groups.",
  noEligibleItem: "The order contains no item this promotion applies to.",
  firstOrderOnly: "This promotion is for the first order only.",
  usageLimit: "This promotion has reached its usage limit.",
  customerLimit: "You have reached the usage limit of this promotion.",
  unknownCustomer: "This promotion is limited per customer: the cart needs an e-mail address.",
  otherCurrency: "This promotion is not available in the currency of the order.",
  malformed: "This promotion cannot be applied.",
  noDiscount: "This promotion does not lower the price of this order.",
  notCombinable: "This promotion cannot be combined with the better offer that was applied."
} as const
export type PromotionReason = typeof promotionReasons[keyof typeof promotionReasons]

export interface PromotionGain {
  readonly discountAmount: Minor
  readonly freeShipping: boolean
  /** Indices of the discounted lines; null for the complete order. */
  readonly eligibleLines: ReadonlyArray<number> | null
}

export const isFixed = (type: PromotionType): boolean => type === "fixed_off_order" || type === "fixed_off_item"
export const isPercentage = (type: PromotionType): boolean =>
  type === "percentage_off_order" || type === "percentage_off_item"
const isOfItems = (type: PromotionType): boolean =>
  type === "percentage_off_item" || type === "fixed_off_item" || type === "buy_x_get_y"

const isCount = (value: number | null): value is number => value !== null && Number.isSafeInteger(value) && value > 0

const isWellFormed = ({ buyQuantity, getQuantity, type, value }: PromotionRow): boolean =>
  isPercentage(type)
    ? value >= 0 && value <= 100
    : isFixed(type)
    ? Number.isSafeInteger(value) && value >= 0
    : type === "free_shipping" || (isCount(buyQuantity) && isCount(getQuantity))

const admits = <A>(wanted: ReadonlyArray<A> | undefined, held: ReadonlyArray<A>): boolean =>
  wanted === undefined || wanted.length === 0 || wanted.some((entry) => held.includes(entry))

const eligibleIndices = (promotion: PromotionRow, lines: ReadonlyArray<PromotionLine>): ReadonlyArray<number> =>
  lines.flatMap((line, index) =>
    admits(promotion.conditions.entityTypes, [line.entityType]) &&
      admits(promotion.conditions.categories, line.categorySlugs)
      ? [index]
      : []
  )

/** A promotion of the complete order can be tested on a subtotal alone (contract 8, validate). */
const asksForItems = ({ conditions, type }: PromotionRow): boolean =>
  isOfItems(type) || (conditions.entityTypes ?? []).length > 0 || (conditions.categories ?? []).length > 0

const quantityOf = (lines: ReadonlyArray<PromotionLine>): bigint =>
  lines.reduce((units, line) => units + BigInt(line.quantity), 0n)

/** The first reason against a promotion, in the order of the contract. */
const objection = (promotion: PromotionRow, order: PromotionOrder): PromotionReason | undefined => {
  const { conditions, validFrom, validUntil } = promotion
  const used = order.usage.get(promotion.id) ?? { total: 0, byCustomer: 0 }
  if (!promotion.isActive) return promotionReasons.inactive
  if (validFrom !== null && order.now < validFrom) return promotionReasons.outsideWindow
  if (validUntil !== null && order.now >= validUntil) return promotionReasons.outsideWindow
  if (!isWellFormed(promotion)) return promotionReasons.malformed
  if (isFixed(promotion.type) && promotion.currency !== order.currency) return promotionReasons.otherCurrency
  if (order.subtotal < (conditions.minimumOrderValue ?? 0)) return promotionReasons.minimumOrderValue
  if (quantityOf(order.lines) < (conditions.minimumQuantity ?? 0)) return promotionReasons.minimumQuantity
  if (!admits(conditions.customerGroups, order.customer.groupIds)) return promotionReasons.groupNotEligible
  if (asksForItems(promotion) && eligibleIndices(promotion, order.lines).length === 0) {
    return promotionReasons.noEligibleItem
  }
  // Used already counts as an order too, as the limit of one that guards it at checkout does.
  if (conditions.firstOrderOnly === true && order.customer.orderCount + used.byCustomer > 0) {
    return promotionReasons.firstOrderOnly
  }
  if (used.total >= (promotion.usageLimitTotal ?? Infinity)) return promotionReasons.usageLimit
  if (used.byCustomer >= (promotion.usageLimitPerCustomer ?? Infinity)) return promotionReasons.customerLimit
  const isPerCustomer = conditions.firstOrderOnly === true || promotion.usageLimitPerCustomer !== null
  if (isPerCustomer && !order.customer.isKnown) return promotionReasons.unknownCustomer
  return undefined
}

const cheapest = (lines: ReadonlyArray<PromotionLine>): bigint =>
  lines.reduce<bigint | undefined>(
    (least, { unitPrice }) => least === undefined || unitPrice < least ? BigInt(unitPrice) : least,
    undefined
  ) ?? 0n

const rawDiscount = (promotion: PromotionRow, order: PromotionOrder, lines: ReadonlyArray<PromotionLine>): bigint => {
  switch (promotion.type) {
    case "percentage_off_order":
      // Rounded once per promotion, on the undiscounted amount (contract 3.3, 8.4).
      return percentOf(BigInt(order.subtotal), promotion.value)
    case "fixed_off_order":
      return BigInt(promotion.value)
    case "percentage_off_item":
      return percentOf(lines.reduce((total, line) => total + BigInt(line.totalPrice), 0n), promotion.value)
    case "fixed_off_item":
      return BigInt(promotion.value) * quantityOf(lines)
    case "free_shipping":
      return 0n
    case "buy_x_get_y": {
      const get = BigInt(promotion.getQuantity ?? 0)
      const group = BigInt(promotion.buyQuantity ?? 0) + get
      return group === 0n ? 0n : quantityOf(lines) / group * get * cheapest(lines)
    }
  }
}

/**
 * Evaluates one promotion alone (contract 8). A discount of zero is a reason against it, unless shipping becomes free.
 */
export const evaluatePromotion = (
  promotion: PromotionRow,
  order: PromotionOrder
): Result.Result<PromotionGain, PromotionReason> => {
  const against = objection(promotion, order)
  if (against !== undefined) return Result.fail(against)
  const indices = eligibleIndices(promotion, order.lines)
  const raw = rawDiscount(promotion, order, order.lines.filter((_, index) => indices.includes(index)))
  const freeShipping = promotion.type === "free_shipping"
  const amount = raw < order.subtotal ? raw : order.subtotal
  if (amount <= 0 && !freeShipping) return Result.fail(promotionReasons.noDiscount)
  return Result.mapBoth(minor(amount, "discount"), {
    onFailure: () => promotionReasons.malformed,
    onSuccess: (discountAmount) => ({
      discountAmount,
      freeShipping,
      eligibleLines: isOfItems(promotion.type) ? indices : null
    })
  })
}
