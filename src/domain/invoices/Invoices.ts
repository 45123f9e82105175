import { Context, Effect, Layer } from "effect"
import { type Order, OrderNotFound } from "../orders/Order.ts"
import { admitReader, Orders } from "../orders/Orders.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import { contentOf, InvoiceSettings, wordsOf } from "./Invoice.ts"
import { type InvoiceDocument, shown, type ShownDocument } from "./InvoiceDocument.ts"
import { htmlOf } from "./InvoiceHtml.ts"
import { InvoiceRepo } from "./InvoiceRepo.ts"

/** Draws documents as PDF: an adapter to a library (`layers/invoices`). */
export class InvoicePdf extends Context.Service<InvoicePdf, {
  readonly draw: (document: ShownDocument) => Effect.Effect<Uint8Array>
}>()("stoa/domain/invoices/InvoicePdf") {}

class InvoicedElsewhere
  extends conflict("InvoicedElsewhere", "An imported order has its invoice in the system that it came from.")
{}

class NotInvoiced extends conflict("NotInvoiced", "An order has no invoice before it is confirmed or paid.") {}

class NotPaid extends conflict("NotPaid", "Nothing was paid for this order yet.") {}

export const invoiceNumber = (sequence: number): string => `INV-${String(sequence).padStart(6, "0")}`

const isBinding = ({ amountCaptured, status }: Order): boolean =>
  amountCaptured !== null || (status !== "pending" && status !== "cancelled")

/** Invoices and receipts of orders (contract §4.4, docs/orders.md). */
export class Invoices extends Context.Service<Invoices>()("stoa/domain/invoices/Invoices", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const repo = yield* InvoiceRepo
    const pdf = yield* InvoicePdf
    const settings = yield* InvoiceSettings

    const readable = (orderId: OrderId) => Effect.flatMap(orders.find(orderId), admitReader)

    const paymentsOf = ({ placedAt, tenders }: Order) =>
      tenders.filter(({ captured }) => captured > 0).map(({ captured, label }) => ({
        at: placedAt,
        amount: captured,
        by: tenders.length > 1 ? label : undefined
      }))

    const show = (document: InvoiceDocument): ShownDocument =>
      shown(document, wordsOf(settings, document.content.locale))

    const invoiceOf = Effect.fnUntraced(function*(order: Order) {
      const { buyer, issued: before, refunds } = yield* repo.factsOf(order.id)
      // The system the order was created in invoices it: a second invoice would tax it twice.
      if (before === undefined && order.importedAt !== undefined) {
        return yield* new InvoicedElsewhere()
      }
      if (before === undefined && !isBinding(order)) {
        return yield* new NotInvoiced()
      }
      const issued = before ?? (yield* repo.issue(order.id, contentOf(order, buyer, settings)))
      const { content, issuedAt: date } = issued
      const number = invoiceNumber(issued.number)
      const document = show({ kind: "invoice", number, date, content, payments: paymentsOf(order), refunds })
      return { number, document, email: buyer.email }
    })

    const found = Effect.fnUntraced(function*(orderId: OrderId) {
      return (yield* orders.find(orderId))?.order ?? (yield* new OrderNotFound())
    })

    const drawn = Effect.fnUntraced(function*(order: Order) {
      const { document, number } = yield* invoiceOf(order)
      return { number, fileName: `${number}.pdf`, pdf: yield* pdf.draw(document) }
    })

    return {
      /** For callers who can read the order; the first request issues the invoice. */
      page: Effect.fn("Invoices.page")(function*(orderId: OrderId) {
        const { document, number } = yield* invoiceOf(yield* readable(orderId))
        return { fileName: `${number}.html`, html: htmlOf(document) }
      }),
      file: Effect.fn("Invoices.file")(function*(orderId: OrderId) {
        return yield* drawn(yield* readable(orderId))
      }),
      /** 409 before anything was paid. */
      receipt: Effect.fn("Invoices.receipt")(function*(orderId: OrderId) {
        const order = yield* readable(orderId)
        if (order.amountCaptured === null) return yield* new NotPaid()
        const { buyer, issued, refunds } = yield* repo.factsOf(order.id)
        const content = issued?.content ?? contentOf(order, buyer, settings)
        const payments = paymentsOf(order)
        const document = show({ kind: "receipt", number: null, date: order.placedAt, content, payments, refunds })
        return { fileName: `receipt-${order.orderNumber}.html`, html: htmlOf(document) }
      }),
      /** Issues the invoice and returns the data of its mail; the total in minor units. For staff: 404, 409. */
      issued: Effect.fn("Invoices.issued")(function*(orderId: OrderId) {
        const order = yield* found(orderId)
        const { currency, grandTotal, orderNumber, organizationId } = order
        const { document: { locale }, email, number: invoiceNumber } = yield* invoiceOf(order)
        return { currency, email, grandTotal, invoiceNumber, locale, orderNumber, organizationId }
      }),
      fileToSend: Effect.fn("Invoices.fileToSend")(function*(orderId: OrderId) {
        return yield* drawn(yield* found(orderId))
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Invoices, Invoices.make)
}
