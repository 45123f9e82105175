import { Schema } from "effect"
import { Meta } from "./WooProductInput.ts"
import { reading } from "./WooRequests.ts"

const Text = Schema.String
const maybe = Schema.optionalKey
export const orderStatuses = [
  "pending",
  "processing",
  "on-hold",
  "completed",
  "cancelled",
  "refunded",
  "failed"
] as const
const Address = Schema.Record(Text, Text)
const Billing = Schema.Record(Text, Text).check(
  Schema.makeFilter(({ email = "" }) => email === "" || email.includes("@"))
)
const Amounts = Schema.Struct({ total: maybe(Text), meta_data: maybe(Schema.Array(Meta)) })

/** A line as a request has it. */
export const LineInput = Schema.Struct({
  ...Amounts.fields,
  product_id: maybe(Schema.Int),
  variation_id: maybe(Schema.Int),
  sku: maybe(Text),
  name: maybe(Text),
  quantity: maybe(Schema.Int),
  subtotal: maybe(Text)
})

/** Reads what a request sets on an order. */
export const readOrder = reading(Schema.Struct({
  status: maybe(Schema.Literals(orderStatuses)),
  currency: maybe(Text),
  customer_id: maybe(Schema.Int),
  customer_note: maybe(Text),
  billing: maybe(Billing),
  shipping: maybe(Address),
  payment_method: maybe(Text),
  transaction_id: maybe(Text),
  set_paid: maybe(Schema.Boolean),
  meta_data: maybe(Schema.Array(Meta)),
  line_items: maybe(Schema.Array(LineInput)),
  shipping_lines: maybe(
    Schema.Array(Schema.Struct({ ...Amounts.fields, method_id: maybe(Text), method_title: maybe(Text) }))
  ),
  fee_lines: maybe(Schema.Array(Schema.Struct({ ...Amounts.fields, name: maybe(Text) })))
}))

/** Reads a request for a refund. */
export const readRefund = reading(Schema.Struct({
  amount: maybe(Text),
  reason: maybe(Text),
  api_refund: maybe(Schema.Boolean),
  api_restock: maybe(Schema.Boolean),
  line_items: maybe(
    Schema.Array(Schema.Struct({ id: Schema.Int, quantity: maybe(Schema.Int), refund_total: maybe(Schema.Number) }))
  )
}))

export type OrderInput = ReturnType<typeof readOrder>

/** No tax is calculated for an order with this meta data. */
export const isExempt = ({ meta_data = [] }: OrderInput) =>
  meta_data.some(({ key, value }) => key === "is_vat_exempt" && value === "yes")
