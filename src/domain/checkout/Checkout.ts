import { Schema } from "effect"
import { GiftCardCode, maxTenders, PromotionCodes } from "../carts/CartChoices.ts"
import { Line, LineNotes, Quantity, SentLine } from "../carts/Line.ts"
import { TaxExemption } from "../customers/TaxExemption.ts"
import { Order } from "../orders/Order.ts"
import { PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { about } from "../platform/hints/Hints.ts"
import { IdempotencyKey } from "../platform/idempotency/IdempotencyKeys.ts"
import { CartId, PromotionId } from "../platform/ids/Id.ts"
import { Amount, Currency, CurrencyCode, MinorUnits } from "../platform/money/Money.ts"
import { Email } from "../platform/text/Email.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, keyText, ShopperObject, ShortText, Text } from "../platform/text/Storable.ts"
import { PriceSteps } from "../pricing/PriceSteps.ts"
import { Estimate } from "../shipping/ShippingRate.ts"

const TenderRequest = Schema.Struct({
  method: Text.annotate({ description: "A payment method or provider of the deployment." }),
  token: Schema.optional(
    FreeText.check(Schema.isMinLength(3), Schema.isMaxLength(255)).annotate({
      description: "The instrument at the provider, or the code of a gift card."
    })
  ),
  amount: Schema.optional(
    MinorUnits.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
      description: "Minor units. Default: as much of what is left as it can pay."
    })
  )
}).annotate({ identifier: "TenderRequest" })
export type TenderRequest = typeof TenderRequest.Type

export const giftCardMethod = "gift-card"

/**
 * Body of `POST /checkout` (spec §4, contract §3.1). `paymentMethodId` names a method or provider, or is a token for the
 * default one. `customerGroupIds` and `customerId` need `customers:read`. What it does not name is as the cart has it
 * (contract-commerce §3).
 */
export const CheckoutRequest = Schema.Struct({
  cartId: CartId,
  paymentMethodId: Text,
  paymentMethodToken: Schema.optional(FreeText.check(Schema.isMinLength(3), Schema.isMaxLength(255))).pipe(
    about("Instrument or session at the provider, as the provider names it.")
  ),
  currency: CurrencyCode,
  customerId: Schema.optional(Schema.NullOr(ShortText)),
  customerGroupIds: Schema.optional(Schema.Array(ShortText).check(Schema.isMaxLength(100))),
  promotionCodes: Schema.optional(PromotionCodes),
  email: maybe(Email),
  shippingAddress: Schema.optional(Schema.NullOr(PostalAddress)),
  billingAddress: maybe(PostalAddress),
  shippingRateId: Schema.optional(Schema.NullOr(Text)),
  expectedTotal: Schema.optional(
    Amount.annotate({
      description:
        "Total that the buyer has agreed to, in minor units. 409 PRICE_CHANGED when the total is another one.",
      examples: [4990]
    })
  ),
  idempotencyKey: Schema.optional(FreeText.check(Schema.isMinLength(8), Schema.isMaxLength(255))).pipe(
    about("Like the header Idempotency-Key, which wins where both are sent.")
  ),
  tenders: Schema.optional(
    Schema.Array(TenderRequest).check(Schema.isMaxLength(maxTenders)).annotate({
      description: "Payments in the order in which they are used; paymentMethodId pays what they leave."
    })
  ),
  giftCardCodes: Schema.optional(
    Schema.Array(GiftCardCode).check(Schema.isMaxLength(maxTenders)).annotate({
      description: "Gift cards, which pay before everything else. Short for tenders of the method gift-card.",
      examples: [["ABCD-EFGH-JKMN-7K2M"]]
    })
  ),
  giftCardCode: Schema.optional(GiftCardCode.annotate({ description: "The same for one card." })),
  metadata: Schema.optional(ShopperObject)
})
export type CheckoutRequest = typeof CheckoutRequest.Type

/** Body of `POST /orders/{id}/payments` (contract-commerce §10). */
export const OrderPaymentRequest = Schema.Struct({
  paymentMethodId: Text.annotate({
    description: "As in a checkout: a provider, or an instrument of the default provider.",
    examples: ["stripe"]
  }),
  paymentMethodToken: Schema.optional(
    FreeText.check(Schema.isMinLength(3), Schema.isMaxLength(255)).annotate({
      description: "The instrument, as the provider names it.",
      examples: ["pm_card"]
    })
  )
}).annotate({ identifier: "OrderPaymentRequest" })
export type OrderPaymentRequest = typeof OrderPaymentRequest.Type

const RejectedCodes = Schema.Array(Schema.Struct({
  code: Schema.String.annotate({ description: "Code as it was sent." }),
  reason: Schema.String.annotate({ description: "Sentence for shoppers." })
})).annotate({ description: "Codes that have no effect." })

export const CheckoutAnswer = Schema.Struct({
  data: Schema.Struct({
    ...Order.fields,
    paymentClientSecret: Schema.optional(Schema.String.annotate({
      description:
        "Given to the provider's script, which lets the shopper confirm the payment; absent: nothing to confirm."
    }))
  }),
  meta: Schema.optional(Schema.Struct({
    hookErrors: Schema.optional(
      Schema.Array(Schema.Struct({ hookName: Schema.String, message: Schema.String })).annotate({
        description: "Hooks that failed after the order was created. The order stands."
      })
    ),
    rejectedPromotionCodes: Schema.optional(RejectedCodes)
  }))
}).annotate({ identifier: "CheckoutAnswer" })

export const ShippingQuoteRequest = Schema.Struct({
  cartId: CartId,
  shippingAddress: PostalAddress,
  promotionCodes: CheckoutRequest.fields.promotionCodes,
  customerId: CheckoutRequest.fields.customerId,
  customerGroupIds: CheckoutRequest.fields.customerGroupIds
})
export type ShippingQuoteRequest = typeof ShippingQuoteRequest.Type

/**
 * Rates in minor units of `currency`. `id` and `name` are null when there is one price only.
 */
export const ShippingQuote = Schema.Struct({
  currency: Currency,
  rates: Schema.Array(Schema.Struct({
    id: Schema.NullOr(Schema.String),
    name: Schema.NullOr(Schema.String),
    amount: MinorUnits,
    estimate: Estimate
  })).annotate({ description: "The first is the default. Empty: nothing needs shipping." })
}).annotate({ identifier: "ShippingQuote" })
export type ShippingQuote = typeof ShippingQuote.Type

/** Line fields that need `orders:manage`; amounts in minor units. */
export const lineMoney = {
  isCustomPrice: Schema.optional(
    Schema.Boolean.annotate({ description: "unitPrice counts and not the catalog. Needs orders:manage." })
  ),
  unitPrice: maybe(Amount.annotate({ description: "Counts only with isCustomPrice: true." })),
  discountAmount: maybe(Amount.annotate({ description: "Off the whole line, at most all of it. Needs orders:manage." }))
}

export const LineRequest = Schema.Struct({
  ...SentLine.fields,
  ...lineMoney
}).annotate({ identifier: "OrderLineRequest" })
export type LineRequest = typeof LineRequest.Type

export const LineChange = Schema.Struct({
  quantity: Schema.optional(Quantity),
  notes: maybe(LineNotes),
  ...lineMoney
}).annotate({ identifier: "OrderLineChange" })
export type LineChange = typeof LineChange.Type

const { customerGroupIds, customerId, metadata, promotionCodes, shippingAddress, shippingRateId } =
  CheckoutRequest.fields

export const maxOrderLines = 500

const LineRequests = Schema.Array(LineRequest).check(Schema.isBetweenLength(1, maxOrderLines))

/** Body of `POST /orders/quote` (contract §3.8). `customerId` and `customerGroupIds` need `customers:read`. */
export const QuoteRequest = Schema.Struct({
  cartId: Schema.optional(CartId),
  currency: CurrencyCode,
  lineItems: Schema.optional(LineRequests),
  customerId,
  customerGroupIds,
  promotionCodes,
  shippingAddress,
  shippingRateId
}).annotate({ identifier: "QuoteRequest" })
export type QuoteRequest = typeof QuoteRequest.Type

export const ManualOrderRequest = Schema.Struct({
  currency: CurrencyCode,
  lineItems: LineRequests,
  customerId,
  customerGroupIds,
  email: maybe(Email),
  promotionCodes,
  shippingAddress,
  shippingRateId,
  metadata,
  idempotencyKey: Schema.optional(IdempotencyKey),
  note: maybe(keyText(10_000).annotate({ description: "Kept as an internal note of the order." })),
  draft: Schema.optional(
    Schema.Boolean.annotate({ description: "No mail is sent, and the order never expires." })
  )
}).annotate({ identifier: "ManualOrder" })
export type ManualOrderRequest = typeof ManualOrderRequest.Type

const Minor = MinorUnits

export const Quote = Schema.Struct({
  currency: Currency,
  subtotal: Minor,
  discountTotal: Minor,
  shippingTotal: Minor,
  taxTotal: Minor,
  taxIncluded: Schema.Boolean.annotate({ description: "The prices contain the tax; the total does not add it." }),
  taxExemption: Schema.NullOr(TaxExemption).annotate({
    description: "Reason why the buyer pays no tax; null: they do."
  }),
  grandTotal: Minor,
  lineItems: Schema.Array(Schema.Struct({
    ...Line.fields,
    unitPrice: Minor,
    totalPrice: Minor,
    discountAmount: Minor,
    taxAmount: Minor,
    isCustomPrice: Schema.Boolean,
    priceSteps: PriceSteps.annotate({ description: "Steps by which plugins changed the price." })
  })),
  appliedPromotions: Schema.Array(Schema.Struct({
    promotionId: PromotionId,
    code: Schema.NullOr(Schema.String).annotate({ description: "Code of the buyer; null: an automatic promotion." }),
    type: Schema.String.annotate({ description: "Kind of discount, such as percentage_off_order." }),
    discountAmount: Minor,
    freeShipping: Schema.Boolean.annotate({ description: "Shipping costs nothing." }),
    description: Schema.String
  })).annotate({ description: "Promotions that take something off, in the order of application." }),
  rejectedPromotionCodes: RejectedCodes
}).annotate({ identifier: "Quote" })
export type Quote = typeof Quote.Type

export const PaymentSessionRequest = Schema.Struct({
  provider: Text.annotate({ description: "Id of the payment provider.", examples: ["stripe"] })
}).annotate({ identifier: "PaymentSessionRequest" })

export const PaymentSession = Schema.Struct({
  provider: Schema.String.annotate({ description: "Id of the payment provider.", examples: ["stripe"] }),
  paymentMethodToken: Schema.String.annotate({
    description: "Names the confirmed payment in the checkout, beside `paymentMethodId`: the provider."
  }),
  clientSecret: Schema.String.annotate({ description: "For the provider's script, which confirms the payment." }),
  publishableKey: Schema.NullOr(Schema.String).annotate({
    description: "The provider's key for pages; null where the deployment has none."
  }),
  amount: Amount,
  currency: Schema.String
}).annotate({ identifier: "PaymentSession" })
