import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { FreeText } from "../text/Storable.ts"

/** More than 0 minor units of the order's currency. */
const Amount = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const Reason = FreeText.check(Schema.isMaxLength(2_000)).annotate({ description: "Why; it is passed to the provider." })

/** An amount that is given back; absent: everything that is left (contract §4.4). */
export const AmountRefund = Schema.Struct({
  amount: Schema.optional(Amount.annotate({ description: "Minor units. Default: everything that is left." })),
  reason: Schema.optional(Reason)
}).annotate({ identifier: "AmountRefund" })

const RequestedLine = Schema.Struct({
  lineItemId: Uuid,
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })),
  restock: Schema.optional(Schema.Boolean.annotate({ description: "For this line; default: that of the request." }))
})

/** Units of lines, shipping, an amount, or several of them (contract §4.3, §4.4). */
export const RefundRequest = Schema.Struct({
  lines: Schema.optional(Schema.Array(RequestedLine).check(Schema.isBetweenLength(1, 1_000))),
  shipping: Schema.optional(
    Schema.Union([Schema.Boolean, Amount]).annotate({
      description: "Minor units of the shipping, or true for what is left of it."
    })
  ),
  amount: Schema.optional(
    Amount.annotate({ description: "Minor units. Beside lines or shipping: at most what they are worth." })
  ),
  reason: Schema.optional(Reason),
  restock: Schema.optional(
    Schema.Boolean.annotate({ description: "Units that were handed over go back into stock. Default false." })
  )
}).annotate({ identifier: "RefundRequest" })
export type RefundRequest = typeof RefundRequest.Type
