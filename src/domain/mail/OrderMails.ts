import { Context, Effect, Layer, Option, Schema } from "effect"
import { Invoices } from "../invoices/Invoices.ts"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import type { EventNotice, EventSubscriber } from "../platform/events/EventSubscribers.ts"
import { OrderId } from "../platform/ids/Id.ts"
import { type InvoiceMail, isMailAddress, type Mail, MailedLine, Mails } from "./Mail.ts"
import { type Addressed, OrderMailRepo } from "./OrderMailRepo.ts"

const MailedOrder = Schema.Struct({
  id: OrderId,
  orderNumber: Schema.String,
  status: Schema.String,
  currency: Schema.String,
  subtotal: Schema.Int,
  discountTotal: Schema.Int,
  shippingTotal: Schema.Int,
  taxTotal: Schema.Int,
  taxIncluded: Schema.optional(Schema.Boolean),
  grandTotal: Schema.Int,
  amountCaptured: Schema.NullOr(Schema.Int),
  isDraft: Schema.optional(Schema.Boolean),
  shippingAddress: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  lineItems: Schema.Array(MailedLine)
})
type MailedOrder = typeof MailedOrder.Type

const decode = Schema.decodeUnknownOption(MailedOrder)

const confirmationOf = (organizationId: string, to: string, order: MailedOrder): Mail => {
  const { amountCaptured: _, id: orderId, isDraft: __, lineItems: lines, status: ___, ...totals } = order
  return { template: "order-confirmation", to, organizationId, data: { orderId, lines, taxIncluded: false, ...totals } }
}

/** A cancelled order that was never paid was not confirmed by mail either. */
const isFailedCheckout = ({ amountCaptured, status }: MailedOrder) => status === "cancelled" && amountCaptured === null

const changeOf = (organizationId: string, to: string, order: MailedOrder, previousStatus: string): Mail => ({
  template: "order-status-change",
  to,
  organizationId,
  data: { orderId: order.id, orderNumber: order.orderNumber, newStatus: order.status, previousStatus }
})

/** No mail if the record cannot be decoded: it must not block the change log. */
const mailOf = ({ email, organizationId, previousStatus, record, type }: Addressed): ReadonlyArray<Mail> => {
  const order = Option.getOrUndefined(decode(record))
  if (order === undefined) return []
  if (type === "orders.create") return order.isDraft === true ? [] : [confirmationOf(organizationId, email, order)]
  return isFailedCheckout(order) ? [] : [changeOf(organizationId, email, order, previousStatus ?? "pending")]
}

export const orderMails: Effect.Effect<EventSubscriber, never, Mails | OrderMailRepo> = Effect.gen(function*() {
  const mails = yield* Mails
  const repo = yield* OrderMailRepo

  const wanted = ({ type }: EventNotice) =>
    type === "orders.create"
      ? mails.sends("order-confirmation")
      : type === "orders.statusChange" && mails.sends("order-status-change")

  return Effect.fn("orderMails")(function*(events: ReadonlyArray<EventNotice>) {
    const recorded = events.filter(wanted)
    if (recorded.length === 0) return
    yield* mails.sendAll((yield* repo.addressed(recorded.map(({ id }) => id))).flatMap(mailOf))
  })
})

export class AddressNeeded extends invalid("AddressNeeded", "to", "is needed: the order has no address", "required") {}
export class InvalidAddress extends invalid("InvalidAddress", "to", "must be an address that can be written to") {}

/** Invoices by mail (contract §4.4). */
export class InvoiceMails extends Context.Service<InvoiceMails>()("stoa/domain/mail/InvoiceMails", {
  make: Effect.gen(function*() {
    const invoices = yield* Invoices
    const mails = yield* Mails

    /**
     * Mails an order's invoice in a background job; issues it if necessary. For staff. 404; 409 if the order cannot be
     * invoiced yet; 422 without an address.
     */
    const send = Effect.fn("InvoiceMails.send")(function*(orderId: OrderId, request: InvoiceMail) {
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
