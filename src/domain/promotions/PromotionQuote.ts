import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Amount } from "../pricing/Bounds.ts"
import { ShortText, Text } from "../text/Storable.ts"
import { PromotionType } from "./PromotionRules.ts"

const Line = Schema.Struct({
  entityId: Uuid,
  entityType: ShortText,
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })),
  unitPrice: Amount,
  totalPrice: Amount
})

/**
 * Body of `POST /promotions/validate` (spec §2): a code and the order to test it on, in minor units. `customerId` and
 * `customerGroupIds` count only for actors with `customers:read`; others use the signed-in customer.
 */
export const PromotionTrial = Schema.Struct({
  code: Text,
  currency: CurrencyCode,
  subtotal: Amount,
  lineItems: Schema.Array(Line).check(Schema.isMaxLength(1000)),
  customerId: Schema.optional(Schema.NullOr(ShortText)),
  customerGroupIds: Schema.optional(Schema.NullOr(Schema.Array(ShortText).check(Schema.isMaxLength(100))))
})
export type PromotionTrial = typeof PromotionTrial.Type

/** The effect of the code (contract §8). A code without effect is an error, so `rejectedCodes` stays empty. */
export const PromotionQuote = Schema.Struct({
  totalDiscount: Amount,
  freeShipping: Schema.Boolean,
  applied: Schema.Array(Schema.Struct({
    promotionId: Uuid,
    code: Schema.NullOr(Schema.String),
    type: PromotionType,
    discountAmount: Amount,
    freeShipping: Schema.Boolean,
    description: Schema.String
  })),
  rejectedCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String }))
}).annotate({ identifier: "PromotionQuote" })
export type PromotionQuote = typeof PromotionQuote.Type
