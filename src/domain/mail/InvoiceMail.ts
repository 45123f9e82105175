import { Schema } from "effect"
import { ShortText } from "../text/Storable.ts"

/** Recipient of an invoice mail; without `to`, the address of the order, else of its customer. */
export const InvoiceMail = Schema.Struct({
  to: Schema.optional(ShortText.annotate({ description: "Another address than the order's." }))
}).annotate({ identifier: "InvoiceMail" })
export type InvoiceMail = typeof InvoiceMail.Type

/** Whether a mail waits to be sent: none does where mails of the template `order-invoice` are not sent. */
export const SentInvoice = Schema.Struct({ queued: Schema.Boolean, to: Schema.String })
  .annotate({ identifier: "SentInvoice" })
export type SentInvoice = typeof SentInvoice.Type
