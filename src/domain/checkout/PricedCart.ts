import { Effect, Schema, Struct } from "effect"
import { ChosenLine, Line, ShownItem } from "../carts/Line.ts"
import { BuyerProfile } from "../customers/BuyerProfile.ts"
import { TaxExemption } from "../customers/TaxExemption.ts"
import { StoredLine } from "../orders/Order.ts"
import { type Actor, actsForShop, mayNameCustomers } from "../platform/access/Actor.ts"
import {
  type CartId,
  type CartLineId,
  CustomerId,
  type OrderId,
  OrderLineId,
  PromotionId,
  TaxClassId,
  WarehouseId
} from "../platform/ids/Id.ts"
import { Metadata } from "../platform/text/Storable.ts"
import { BreakdownStep } from "../pricing/PriceResolution.ts"
import type { PriceCandidates } from "../pricing/PriceStatements.ts"
import { PriceSteps } from "../pricing/PriceSteps.ts"
import { payable } from "../pricing/Totals.ts"
import type { PromotionCandidate } from "../promotions/CandidateStatements.ts"
import type { CheckoutRequest } from "./Checkout.ts"

export const ClaimedLine = Schema.Struct({
  ...ChosenLine.fields,
  entityType: Schema.NullOr(Line.fields.entityType),
  available: Schema.Boolean,
  ...ShownItem.fields,
  title: Schema.NullOr(Line.fields.title),
  categorySlugs: Schema.Array(Schema.String),
  weightGrams: Schema.Number,
  /** Tax class of the variant, else of the entity (contract §3.5): its id, and the name that adapters see. */
  taxClass: Schema.NullOr(Schema.String),
  taxClassId: Schema.NullOr(TaxClassId),
  /** Whether its units are counted, by the variant, else by the entity (contract-commerce §1). */
  counted: Schema.Boolean,
  /** Units of it that may wait for stock in all orders; 0: none. */
  backorders: Schema.Int
})
export type ClaimedLine = typeof ClaimedLine.Type

/** Terms that staff set for a line, or that its order line already has. Minor units. */
export interface Agreement {
  readonly lineId?: OrderLineId | undefined
  /** Absent: the current catalog price. */
  readonly unitPrice?: number | undefined
  /** The catalog never replaces the unit price. */
  readonly isCustomPrice: boolean
  /** On the full line, before promotions; at most the line's total. */
  readonly discount: number
  /** Steps that are in `unitPrice` already. */
  readonly priceSteps?: PriceSteps | undefined
}

/** The line of the cart, the units that can be sold now, whether few are left, and the units that orders wait for. */
interface ShownUnits {
  readonly id: CartLineId
  readonly units: number
  readonly isLow: boolean
  readonly waiting: number
}

export interface BasketLine extends ClaimedLine {
  /** As its order line has it. */
  readonly listPrice?: number | null
  readonly agreed?: Agreement | undefined
  /** Set where a cart is checked out. */
  readonly cartLineId?: CartLineId | undefined
  /** Set where a cart shows its totals. */
  readonly shown?: ShownUnits | undefined
}

export interface PricingCandidates {
  readonly prices: PriceCandidates
  readonly promotions: ReadonlyArray<PromotionCandidate>
}

export interface Basket {
  readonly currency: string
  readonly customerId: CustomerId | null
  readonly customerGroupIds: ReadonlyArray<string>
  /** Absent from an order's basket, which names its buyer already. */
  readonly profile?: BuyerProfile | null | undefined
  readonly email: string | null
  readonly secretHash: string
  readonly lines: ReadonlyArray<BasketLine>
  readonly candidates?: PricingCandidates | undefined
  /** Of a stored cart. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Promotions that this order already uses; they do not count against their limits. */
  readonly used?: ReadonlyArray<PromotionId> | undefined
  /** As the order was sold with it; absent: as it is now. */
  readonly taxExemption?: TaxExemption | null | undefined
}

/**
 * The customer that an actor with `customers:read` names, else the cart's, else the visitor's profile (contract §3.1).
 * Staff who check out a guest's cart act for the guest.
 */
export const buyerOf = (actor: Actor, named: string | null | undefined, own: CustomerId | null) => ({
  named: mayNameCustomers(actor) ? named ?? null : null,
  own: actsForShop(actor) ? null : own
})

export type PricingRequest =
  & Pick<
    CheckoutRequest,
    | "customerId"
    | "customerGroupIds"
    | "promotionCodes"
    | "shippingAddress"
    | "billingAddress"
    | "shippingRateId"
    | "metadata"
  >
  & {
    /** Prices single units for a price list: nothing is chosen or sold. */
    readonly isList?: boolean
  }

const Minor = Schema.Int

/** A priced line with its share of discount and tax. Minor units. */
export const PricedCartLine = Schema.Struct({
  id: OrderLineId,
  ...Line.fields,
  unitPrice: Minor,
  totalPrice: Minor,
  discountAmount: Minor,
  taxAmount: Minor,
  /** Absent in older values. */
  taxes: Schema.optional(StoredLine.fields.taxes),
  /** Absent, in older values: true. */
  counted: Schema.optional(Schema.Boolean),
  /** Absent: no units of it may wait for stock. */
  backorders: Schema.optional(Schema.Int),
  /** Money and not goods (`catalog.types`). Absent: false. */
  storedValue: Schema.optional(Schema.Boolean),
  /** Absent: true. */
  ships: Schema.optional(Schema.Boolean),
  /** Absent: all but stored value is. */
  payableWithStoredValue: Schema.optional(Schema.Boolean),
  /** The price row of `unitPrice`, null for the entity's base price, and the steps of its modifiers. */
  basePriceId: Schema.optional(Schema.NullOr(Schema.String)),
  priceSteps: Schema.optional(Schema.Array(BreakdownStep)),
  addedSteps: Schema.optionalKey(PriceSteps),
  /** `manualDiscount` is the part of `discountAmount` by staff. */
  isCustomPrice: Schema.optional(Schema.Boolean),
  manualDiscount: Schema.optional(Minor)
})
export type PricedCartLine = typeof PricedCartLine.Type

/** Tests a line for stock that it takes. */
export const isCounted = ({ counted }: Pick<PricedCartLine, "counted">): boolean => counted !== false

/** Whether units of its lines may wait for stock: only the database knows how many do. */
export const mayWait = ({ lines }: Pick<PricedCart, "lines">): boolean =>
  lines.some(({ backorders }) => backorders !== undefined)

/** An applied promotion; creating the order checks `perCustomer`, its limit for one customer, again. */
export const PricedCartPromotion = Schema.Struct({
  promotionId: PromotionId,
  code: Schema.NullOr(Schema.String),
  type: Schema.String,
  discountAmount: Minor,
  freeShipping: Schema.Boolean,
  description: Schema.String,
  perCustomer: Schema.NullOr(Schema.Int)
})

export const PinnedTender = Schema.Struct({
  provider: Schema.String,
  token: Schema.NullOr(Schema.String),
  label: Schema.String,
  amount: Minor
})
export type PinnedTender = typeof PinnedTender.Type

export const CheckoutExtensionData = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown))
export type CheckoutExtensionData = typeof CheckoutExtensionData.Type

/**
 * The prices of a checkout, stored with its reservation: a later price change must not change the authorized amount.
 * New fields are optional, because older values are stored.
 */
export const PricedCart = Schema.Struct({
  currency: Schema.String,
  customerId: Schema.NullOr(CustomerId),
  profile: Schema.optional(Schema.NullOr(BuyerProfile)),
  email: Schema.optional(Schema.NullOr(Schema.String)),
  cartSecretHash: Schema.String,
  lines: Schema.Array(PricedCartLine),
  promotions: Schema.Array(PricedCartPromotion),
  rejectedCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String })),
  subtotal: Minor,
  discountTotal: Minor,
  taxTotal: Minor,
  shippingTotal: Minor,
  grandTotal: Minor,
  customerGroupIds: Schema.optional(Schema.Array(Schema.String)),
  /** Absent, in older values: false. */
  taxIncluded: Schema.optional(Schema.Boolean),
  /** Why no tax is charged; absent: it is. */
  taxExemption: Schema.optional(TaxExemption),
  /** The part of the order that single-purpose stored value pays, without tax; absent: none. */
  alreadyTaxed: Schema.optional(Minor),
  /** The tax adapter that must receive the order; absent when the store's rules decided the tax. */
  taxProvider: Schema.optional(Schema.String),
  /** Absent or null without a choice of rates. */
  shippingMethod: Schema.optional(Schema.NullOr(Schema.String)),
  shippingRateId: Schema.optional(Schema.NullOr(Schema.String)),
  paymentProvider: Schema.optional(Schema.String),
  /** Parts of `grandTotal`; absent for a single payment. */
  tenders: Schema.optional(Schema.Array(PinnedTender)),
  warehouseId: Schema.optional(WarehouseId),
  /** Kept by plugins; no part of the order. */
  extensions: Schema.optional(CheckoutExtensionData),
  metadata: Metadata
})
export type PricedCart = typeof PricedCart.Type

const StoredPricedCart = Schema.fromJsonString(Schema.toCodecJson(PricedCart))
const encode = Schema.encodeEffect(StoredPricedCart)
const decode = Schema.decodeEffect(StoredPricedCart)

export const encodePricedCart = (pricedCart: PricedCart): Effect.Effect<string> =>
  Effect.catch(encode(pricedCart), Effect.die)

export const decodePricedCart = (stored: string): Effect.Effect<PricedCart> => Effect.catch(decode(stored), Effect.die)

export const totalsOf = (pricedCart: PricedCart) => ({
  ...Struct.pick(pricedCart, ["subtotal", "discountTotal", "taxTotal", "shippingTotal", "grandTotal"]),
  taxIncluded: pricedCart.taxIncluded ?? false
})

export interface CheckoutLine extends PricedCartLine {
  readonly resolvedUnitPrice: number
  readonly resolvedTotal: number
  readonly priceBreakdown: ReadonlyArray<typeof BreakdownStep.Type>
}

/** A checkout as hooks see it (contract §0.5); they may change `metadata` and refuse. Amounts in minor units. */
export interface CheckoutData {
  readonly checkoutId: string
  readonly orderId: OrderId
  /** Null for a manual order. */
  readonly cartId: CartId | null
  readonly customerId: CustomerId | null
  readonly customerGroupIds: ReadonlyArray<string>
  readonly currency: string
  readonly paymentMethodId: string | null
  readonly paymentMethodToken: string | null
  readonly idempotencyKey: string | null
  readonly lineItems: ReadonlyArray<CheckoutLine>
  readonly subtotal: number
  readonly discountTotal: number
  readonly taxTotal: number
  readonly taxIncluded: boolean
  readonly shippingTotal: number
  /** Gross; stored value (gift cards) does not lower it. */
  readonly total: number
  readonly promotionCodes: ReadonlyArray<string>
  readonly appliedPromotions: PricedCart["promotions"]
  readonly freeShipping: boolean
  readonly shippingAddress: CheckoutRequest["shippingAddress"] | null
  readonly shippingMethod: string | null
  readonly metadata: PricedCart["metadata"]
  /** Present from `checkout.beforeCreate` on. */
  readonly paymentIntentId?: string
  readonly paymentClientSecret?: string | null
}

export const appliedIn = ({ promotions }: PricedCart) => promotions.map(({ perCustomer: _, ...applied }) => applied)

export const shippedBy = ({ shippingMethod, shippingRateId }: PricedCart) =>
  shippingRateId ? { shippingMethod, shippingRateId } : {}

/** Lines that stored value may not pay for: stored value, unless the type's policy says otherwise (contract-commerce §2). */
export const unpayableByStoredValue = ({ lines }: PricedCart): ReadonlyArray<PricedCartLine> =>
  lines.filter(({ payableWithStoredValue, storedValue = false }) => !(payableWithStoredValue ?? !storedValue))

/** The part of the total that stored value may pay. Minor units. */
export const payableByStoredValue = (pricedCart: PricedCart): number =>
  unpayableByStoredValue(pricedCart).reduce(
    (left, { discountAmount: discount, taxAmount: tax, totalPrice: total }) =>
      left - payable({ discount, tax, total, taxIncluded: pricedCart.taxIncluded ?? false }),
    pricedCart.grandTotal
  )

declare module "../platform/hooks/HookMap.ts" {
  interface BeforeHooks {
    readonly "checkout.beforePayment": CheckoutData
    readonly "checkout.beforeCreate": CheckoutData
    readonly "orders.beforeCreate": CheckoutData
  }
}
