import { Context, Effect, Layer } from "effect"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { Invoices } from "../invoices/Invoices.ts"
import type { InvoiceMail } from "./InvoiceMail.ts"
import { Mails } from "./Mail.ts"
import { isMailAddress } from "./MailAddress.ts"

/** Invoices by mail (contract §4.4). */
export class InvoiceMails extends Context.Service<InvoiceMails>()("stoa/domain/mail/InvoiceMails", {
  make: Effect.gen(function*() {
    const invoices = yield* Invoices
    const mails = yield* Mails

    /**
     * Mails an order's invoice in a background job, which renders it; issues the invoice if necessary. For staff. 404;
     * 409 if the order cannot be invoiced yet; 422 without an address.
     */
    const send = Effect.fn("InvoiceMails.send")(function*(orderId: string, request: InvoiceMail) {
      const invoice = yield* invoices.issued(orderId)
      const to = request.to ?? invoice.email
      if (to === null) return yield* ValidationFailed.of("to", "is needed: the order has no address", "required")
      if (!isMailAddress(to)) return yield* ValidationFailed.of("to", "must be an address that can be written to")
      const { currency, grandTotal, invoiceNumber, locale, orderNumber, organizationId } = invoice
      const data = { orderId, orderNumber, invoiceNumber, currency, grandTotal }
      yield* mails.send({ template: "order-invoice", to, organizationId, locale, data })
      return { queued: mails.sends("order-invoice"), to }
    })
    return { send }
  })
}) {
  static readonly layer = Layer.effect(InvoiceMails, InvoiceMails.make)
}
