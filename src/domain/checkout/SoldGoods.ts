import { Schema, Struct } from "effect"
import { PostingReference } from "../inventory/StockPosting.ts"
import { WarehouseId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { keyText, ShortText, Text } from "../platform/text/Storable.ts"
import { ManualOrderRequest } from "./Checkout.ts"

/** What has paid for goods that have left; minor units. */
export const PaidTender = Schema.Struct({
  /** Provider that gives it back in a refund: one of the deployment or of a plugin. */
  method: Text,
  /** Of 0: no payment. */
  amount: Amount,
  /** What the shopper knows it by. Default: the method. */
  label: Schema.optional(Text),
  /** The provider's id of the payment. */
  reference: Schema.optional(ShortText)
})
export type PaidTender = typeof PaidTender.Type

/** Goods that have left already: sold at a till, or by another channel. */
export const SoldGoods = Schema.Struct({
  ...Struct.pick(ManualOrderRequest.fields, [
    "currency",
    "customerGroupIds",
    "customerId",
    "email",
    "lineItems",
    "metadata",
    "promotionCodes"
  ]),
  /** The document that sold them: one order for each. */
  reference: PostingReference,
  /** Where the goods left. */
  warehouseId: WarehouseId,
  /** They come to the order's total; each is captured. */
  tenders: Schema.Array(PaidTender),
  /** Minor units. Default 0. */
  shippingTotal: Schema.optional(Amount),
  /** `metadata.channel` of the order. */
  channel: Schema.optional(keyText(64)),
  /** Default: now. A call that is repeated says the same. */
  soldAt: Schema.optional(Schema.Date)
})
export type SoldGoods = typeof SoldGoods.Type
