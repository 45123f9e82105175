import { Context, Effect, Layer } from "effect"
import { invalid } from "../errors/ErrorKinds.ts"
import { Invoices } from "../invoices/Invoices.ts"
import { type InvoiceMail, isMailAddress, Mails } from "./Mail.ts"

export class AddressNeeded extends invalid("AddressNeeded", "to", "is needed: the order has no address", "required") {}
export class InvalidAddress extends invalid("InvalidAddress", "to", "must be an address that can be written to") {}

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
      if (to === null) return yield* new AddressNeeded()
      if (!isMailAddress(to)) return yield* new InvalidAddress()
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
