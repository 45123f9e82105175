import { Schema, Struct } from "effect"
import { PostingReference, StockPostingLine } from "../inventory/StockPosting.ts"
import { PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { CollectedPaymentId, OrderId, WarehouseId } from "../platform/ids/Id.ts"
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
  /**
   * A payment of `payments.collect` for this order, which claims it: its label, reference and amount count. Stored value
   * needs it.
   */
  paymentId: Schema.optional(CollectedPaymentId)
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
  /** The place where the buyer took the goods, whose taxes apply. Default: none. */
  handedOverAt: Schema.optional(Schema.NullOr(PostalAddress)),
  /**
   * `refuse`: 422 for goods that are not there, or are promised to other orders. `allow` (the default): they left
   * anyway, and the order has `metadata.oversold`.
   */
  stock: Schema.optional(Schema.Literals(["refuse", "allow"])),
  /** Goods that the sale used up besides its lines: ingredients. Posted together with them. */
  consumes: Schema.optional(Schema.Array(StockPostingLine)),
  /** An order of which `also` takes these goods back: it and all their stock are locked in one order, with that of the sale. */
  returns: Schema.optional(
    Schema.Struct({
      orderId: OrderId,
      goods: Schema.Array(Schema.Struct(Struct.pick(StockPostingLine.fields, ["entityId", "variantId"])))
    })
  ),
  /** Whether mails tell the buyer of the order. Default false. */
  mails: Schema.optional(Schema.Boolean),
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
