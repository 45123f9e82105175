import { Schema, Struct } from "effect"
import { PostingReference } from "../inventory/StockPosting.ts"
import { WarehouseId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { keyText, ShortText, Text } from "../platform/text/Storable.ts"
import { ManualOrderRequest } from "./Checkout.ts"

/** A payment of goods that have left; minor units. */
export const PaidTender = Schema.Struct({
  /** The provider that refunds it: one of the deployment or of a plugin. */
  method: Text,
  /** Of 0: no payment. */
  amount: Amount,
  label: Schema.optional(Text),
  reference: Schema.optional(ShortText),
  /** Stored value that was taxed when it was sold: its part of the order is not taxed again. */
  singlePurpose: Schema.optional(Schema.Boolean)
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
  reference: PostingReference,
  warehouseId: WarehouseId,
  /** They add up to the order's total; each is captured. */
  tenders: Schema.Array(PaidTender),
  /** Minor units. Default 0. */
  shippingTotal: Schema.optional(Amount),
  /** `metadata.channel` of the order. */
  channel: Schema.optional(keyText(64)),
  /** Default: now. A repeated call sends the same. */
  soldAt: Schema.optional(Schema.Date)
})
export type SoldGoods = typeof SoldGoods.Type
