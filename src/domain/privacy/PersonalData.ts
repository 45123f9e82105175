import { Schema } from "effect"
import { Cart } from "../carts/Cart.ts"
import { Address, Customer } from "../customers/Customer.ts"
import { Interaction } from "../customers/Interaction.ts"
import { Order } from "../orders/Order.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { FulfillmentId, OrderId, OrderLineId, OrderNoteId, RefundId, ReturnId } from "../platform/ids/Id.ts"
import { MinorUnits } from "../platform/money/Money.ts"
import { Time } from "../platform/text/Time.ts"

const text = Schema.NullOr(Schema.String)

export const WrittenNote = Schema.Struct({
  id: OrderNoteId,
  orderId: OrderId,
  visibility: Schema.String.pipe(about("internal: only staff sees it. customer: the buyer sees it too.")),
  text: Schema.String,
  createdAt: Time
}).annotate({ identifier: "WrittenNote" })

/** A refund, paid or pending; minor units of the order's currency. */
export const GivenBack = Schema.Struct({
  id: RefundId,
  orderId: OrderId,
  amount: MinorUnits,
  reason: Schema.String,
  status: Schema.String.pipe(about("State, as staff sees it.")),
  createdAt: Time
}).annotate({ identifier: "GivenBack" })

export const HandedOver = Schema.Struct({
  id: FulfillmentId,
  orderId: OrderId,
  type: Schema.String.pipe(about("Way of the handing over, such as physical or digital-download.")),
  status: Schema.String.pipe(about("State, as staff sees it.")),
  carrier: text,
  trackingNumber: text,
  trackingUrl: text,
  details: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    about("Fields of digital goods and the metadata; null without any.")
  ),
  createdAt: Time
}).annotate({ identifier: "HandedOver" })

/** Goods that were asked back. */
export const AskedBack = Schema.Struct({
  id: ReturnId,
  orderId: OrderId,
  number: Schema.String.pipe(about("Number of the order with the place of the return among its returns.")),
  status: Schema.String.pipe(about("State, as staff sees it.")),
  lines: Schema.Array(Schema.Struct({ lineItemId: OrderLineId, quantity: Schema.Int, reason: text })),
  photos: Schema.Array(Schema.String),
  rejectionReason: text.pipe(about("Sentence for the buyer; null: it was not rejected.")),
  instructions: text.pipe(about("Way to send the goods back.")),
  createdAt: Time
}).annotate({ identifier: "AskedBack" })

export const IssuedDocument = Schema.Struct({
  orderId: OrderId,
  number: Schema.Int.pipe(about("Counts the invoices of the store.")),
  issuedAt: Time,
  content: Schema.Record(Schema.String, Schema.Unknown).pipe(about("The invoice as it was issued, as JSON."))
}).annotate({ identifier: "IssuedDocument" })

const OrderRecords = Schema.Struct({
  notes: Schema.Array(WrittenNote),
  refunds: Schema.Array(GivenBack),
  fulfillments: Schema.Array(HandedOver),
  returns: Schema.Array(AskedBack),
  invoices: Schema.Array(IssuedDocument)
})

/** All data that the store holds about a customer, each kind newest first. */
export const PersonalData = Schema.Struct({
  exportedAt: Time,
  profile: Customer,
  addresses: Schema.Array(Address),
  orders: Schema.Array(Order),
  carts: Schema.Array(Cart),
  interactions: Schema.Array(Interaction),
  ...OrderRecords.fields,
  plugins: Schema.Record(Schema.String, Schema.Array(Schema.Record(Schema.String, Schema.Unknown))).annotate({
    description: "Rows of plugins by plugin and table."
  })
}).annotate({ identifier: "PersonalData" })

const named = 5

/** Numbers of open orders; empty while only a checkout is under way. */
export class OrdersOpen extends conflict("OrdersOpen", (numbers: ReadonlyArray<string>) =>
  numbers.length === 0
    ? "A checkout is under way. Ask again when it has ended."
    : `Orders are still open: ${numbers.slice(0, named).join(", ")}${numbers.length > named ? " and more" : ""}. ` +
      "They have to be fulfilled or cancelled first.")
{}
