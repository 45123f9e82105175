import { Result, Schema, Struct } from "effect"
import { Quantity, ShownItem } from "../carts/Line.ts"
import { GivenOutside } from "../orders/RefundTable.ts"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import {
  EntityId,
  OrderId,
  OrderLineId,
  OrganizationId,
  RefundId,
  ReturnId,
  VariantId,
  WarehouseId
} from "../platform/ids/Id.ts"
import { Units } from "../platform/text/Fields.ts"
import { FreeText, keyText, ofForm, PictureUrl, Reference } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

export const ReturnStatus = Schema.Literals([
  "requested",
  "approved",
  "rejected",
  "received",
  "refunded",
  "exchanged",
  "cancelled"
]).annotate({
  description:
    "The store approves or rejects a requested return, receives the goods, then refunds or exchanges them. cancelled: by the " +
    "buyer or the store, before the goods came."
})
export type ReturnStatus = typeof ReturnStatus.Type

export const Disposition = Schema.Literals(["restock", "scrap"]).annotate({
  description: "restock: the units can be sold again. scrap: they are written off.",
  examples: ["restock"]
})

const ReceivedUnits = Schema.Struct({
  quantity: Schema.Int,
  disposition: Disposition,
  warehouseId: Schema.NullOr(WarehouseId).annotate({ description: "Warehouse that the units came back to." })
}).annotate({ identifier: "ReceivedUnits" })

export const ReturnLine = Schema.Struct({
  lineItemId: OrderLineId,
  ...Struct.pick(ShownItem.fields, ["title", "variantTitle", "sku"]),
  quantity: Schema.Int.annotate({ description: "Units that were asked for." }),
  reason: Schema.NullOr(Schema.String),
  receivedQuantity: Schema.Int.annotate({ description: "Units that came back; only these are refunded." }),
  received: Schema.Array(ReceivedUnits).annotate({ description: "Units that came back, by what became of them." })
}).annotate({ identifier: "ReturnLine" })
export type ReturnLine = typeof ReturnLine.Type

/** Goods of an order on their way back (contract-commerce §12). */
export const Return = Schema.Struct({
  id: ReturnId,
  organizationId: OrganizationId,
  orderId: OrderId,
  number: Schema.String.annotate({
    description: "The number of the order with the place of the return among its returns.",
    examples: ["ORD-2026-000042-R1"]
  }),
  status: ReturnStatus,
  lines: Schema.Array(ReturnLine),
  photos: Schema.Array(Schema.String),
  rejectionReason: Schema.NullOr(Schema.String).annotate({
    description: "Sentence for the buyer; null: it was not rejected."
  }),
  instructions: Schema.NullOr(Schema.String).annotate({ description: "How to send the goods back." }),
  labelUrl: Schema.NullOr(Schema.String).annotate({ description: "Address of the label of the parcel." }),
  refundId: Schema.NullOr(RefundId).annotate({ description: "The refund of its goods; an exchange has one too." }),
  replacementOrderId: Schema.NullOr(OrderId).annotate({ description: "The order that its goods were exchanged for." }),
  requestedBy: Schema.NullOr(Schema.String).annotate({ description: "The login that asked for it." }),
  receivedAt: Schema.NullOr(Time),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Return" })
export type Return = typeof Return.Type

const maxLines = 1_000

const Reason = FreeText.check(Schema.isMaxLength(2_000))

export const NewReturn = Schema.Struct({
  lines: Schema.Array(Schema.Struct({
    lineItemId: OrderLineId,
    quantity: Units,
    reason: Schema.optional(Reason.annotate({ description: "Why it comes back.", examples: ["Too small"] }))
  })).check(Schema.isBetweenLength(1, maxLines)),
  photos: Schema.optional(
    Schema.Array(PictureUrl).check(Schema.isMaxLength(10)).annotate({
      description: "Addresses of pictures of the goods, for example of a damage."
    })
  )
}).annotate({ identifier: "NewReturn" })
export type NewReturn = typeof NewReturn.Type

export const Approval = Schema.Struct({
  instructions: Schema.optional(
    keyText(10_000).annotate({ description: "How to send the goods back, for the buyer.", examples: ["Use the box."] })
  ),
  labelUrl: Schema.optional(
    Reference.check(ofForm(/^https?:\/\/\S+$/, "an address that begins with http or https")).annotate({
      description: "Address of the label of the parcel, for the buyer."
    })
  )
}).annotate({ identifier: "ReturnApproval" })
export type Approval = typeof Approval.Type

export const Rejection = Schema.Struct({
  reason: Reason.check(Schema.isMinLength(1)).annotate({
    description: "Why the goods are not taken back, for the buyer.",
    examples: ["The seal is broken."]
  })
}).annotate({ identifier: "ReturnRejection" })

export const Receipt = Schema.Struct({
  lines: Schema.Array(Schema.Struct({
    lineItemId: OrderLineId,
    quantity: Units,
    disposition: Disposition,
    warehouseId: Schema.optional(
      WarehouseId.annotate({ description: "Where to restock them. Default: the warehouse that they left." })
    )
  })).check(Schema.isBetweenLength(1, maxLines)).annotate({
    description: "Units that came back; fewer than were asked for is possible, and a line may be named twice."
  })
}).annotate({ identifier: "ReturnReceipt" })
export type Receipt = typeof Receipt.Type

export const ReturnRefund = Schema.Struct({
  givenOutside: Schema.optional(
    GivenOutside.pipe(about("The money was given back another way: no provider is asked."))
  )
}).annotate({ identifier: "ReturnRefund" })
export type ReturnRefund = typeof ReturnRefund.Type

export const ReturnExchange = Schema.Struct({
  lines: Schema.Array(Schema.Struct({
    entityId: EntityId,
    variantId: Schema.optional(Schema.NullOr(VariantId)),
    quantity: Quantity
  })).check(Schema.isBetweenLength(1, maxLines)).annotate({
    description: "Goods of the new order, at their price now."
  }),
  givenOutside: Schema.optional(
    GivenOutside.pipe(
      about("What is left of the worth of the returned goods was given back another way: no provider is asked.")
    )
  )
}).annotate({ identifier: "ReturnExchange" })
export type ReturnExchange = typeof ReturnExchange.Type

/** Where each step begins and ends (contract-commerce §12). */
const steps = {
  approve: { from: ["requested"], to: "approved" },
  reject: { from: ["requested"], to: "rejected" },
  cancel: { from: ["requested", "approved"], to: "cancelled" },
  receive: { from: ["approved"], to: "received" },
  refund: { from: ["received"], to: "refunded" },
  exchange: { from: ["received"], to: "exchanged" }
} as const satisfies Record<string, { readonly from: ReadonlyArray<ReturnStatus>; readonly to: ReturnStatus }>
export type ReturnStep = keyof typeof steps

export class ReturnNotFound extends notFound("Return", "Return not found.") {}
class WrongStep extends conflict(
  "ReturnStepRefused",
  (step: ReturnStep, status: ReturnStatus, from: ReadonlyArray<ReturnStatus>) =>
    `The return is ${status}. Only a return that is ${from.join(" or ")} can take the step "${step}".`
) {}

export const nextStatus = (step: ReturnStep, status: ReturnStatus): Result.Result<ReturnStatus, WrongStep> => {
  const { from, to } = steps[step]
  return from.some((one) => one === status) ? Result.succeed(to) : Result.fail(new WrongStep(step, status, from))
}
