import { Context, Effect, Layer, Option, Schema, Struct } from "effect"
import { Invoices } from "../invoices/Invoices.ts"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import type { EventNotice, EventSubscriber } from "../platform/events/EventSubscribers.ts"
import { OrderId } from "../platform/ids/Id.ts"
import { normalizedMailbox } from "../platform/text/Email.ts"
import { Return } from "../returns/Return.ts"
import { type InvoiceMail, type Mail, MailedLine, Mails, type MailTemplate } from "./Mail.ts"
import { type Addressed, type AddressedReturn, OrderMailRepo } from "./OrderMailRepo.ts"

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

/** Without an address it is recorded and not sent. No mail if the record cannot be decoded: it must not block the change log. */
const mailOf = ({ email, organizationId, previousStatus, record, type }: Addressed): ReadonlyArray<Mail> => {
  const order = Option.getOrUndefined(decode(record))
  if (order === undefined) return []
  if (type === "orders.create") {
    return order.isDraft === true
      ? []
      : [confirmationOf(organizationId, email ?? "", order)]
  }
  return isFailedCheckout(order) ? [] : [changeOf(organizationId, email ?? "", order, previousStatus ?? "pending")]
}

const decodeReturn = Schema.decodeUnknownOption(
  Return.mapFields(Struct.pick(["orderId", "number", "status", "lines", "rejectionReason", "instructions", "labelUrl"]))
)

const isBack = (status: Return["status"]) => status === "received" || status === "refunded" || status === "exchanged"

const returnMailOf = ({ email, organizationId, record, ...of }: AddressedReturn): ReadonlyArray<Mail> => {
  const found = Option.getOrUndefined(decodeReturn(record))
  if (found === undefined) return []
  const { lines, number: returnNumber, ...shown } = found
  const mailed = lines.flatMap(({ receivedQuantity, ...line }) => {
    const quantity = isBack(found.status) ? receivedQuantity : line.quantity
    return quantity === 0 ? [] : [{ ...Struct.pick(line, ["title", "variantTitle", "sku"]), quantity }]
  })
  return [{
    template: "order-return",
    to: email ?? "",
    organizationId,
    data: { ...of, ...shown, returnNumber, lines: mailed }
  }]
}

export const orderMails: Effect.Effect<EventSubscriber, never, Mails | OrderMailRepo> = Effect.gen(function*() {
  const mails = yield* Mails
  const repo = yield* OrderMailRepo

  const templates: { readonly [type: string]: MailTemplate } = {
    "orders.create": "order-confirmation",
    "orders.statusChange": "order-status-change",
    "returns.create": "order-return",
    "returns.update": "order-return"
  }

  const idsOf = (events: ReadonlyArray<EventNotice>, ofReturns: boolean) =>
    events.flatMap(({ id, type }) => {
      const template = templates[type]
      return template !== undefined && (template === "order-return") === ofReturns && mails.sends(template) ? [id] : []
    })

  return Effect.fn("orderMails")(function*(events: ReadonlyArray<EventNotice>) {
    const [orders, returns] = [idsOf(events, false), idsOf(events, true)]
    if (orders.length > 0) yield* mails.sendAll((yield* repo.addressed(orders)).flatMap(mailOf))
    if (returns.length > 0) yield* mails.sendAll((yield* repo.addressedReturns(returns)).flatMap(returnMailOf))
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
      if (normalizedMailbox(to) === undefined) return yield* new InvalidAddress()
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
