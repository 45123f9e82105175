import { Schema } from "effect"
import { ShortText } from "../text/Storable.ts"

/** Recipient of an invoice mail; without `to`, the address of the order, else of its customer. */
export const InvoiceMail = Schema.Struct({
  to: Schema.optional(ShortText.annotate({ description: "Another address than the order's." }))
}).annotate({ identifier: "InvoiceMail" })
export type InvoiceMail = typeof InvoiceMail.Type

/** `queued` is false if mails of the template `order-invoice` are switched off. */
export const SentInvoice = Schema.Struct({ queued: Schema.Boolean, to: Schema.String })
  .annotate({ identifier: "SentInvoice" })
export type SentInvoice = typeof SentInvoice.Type
