import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { OrderEdits } from "../../domain/checkout/OrderEdits.ts"
import { Quotes } from "../../domain/checkout/Quotes.ts"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Shipments } from "../../domain/fulfillment/Shipments.ts"
import { Invoices } from "../../domain/invoices/Invoices.ts"
import { InvoiceMails } from "../../domain/mail/OrderMails.ts"
import { OrderRecords } from "../../domain/orders/OrderRecords.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { OrderPayments } from "../../workflows/checkout/OrderPayments.ts"
import { ManualOrders } from "../../workflows/orders/ManualOrders.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { deleted } from "../envelope/Envelope.ts"
import {
  AdminOrdersGroup,
  DownloadsGroup,
  FulfillmentsGroup,
  InvoicesGroup,
  OrderRecordsGroup,
  OrdersGroup
} from "./OrdersApi.ts"

export const ordersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrdersGroup),
  "orders",
  Effect.fnUntraced(function*(handlers) {
    const orders = yield* Orders
    const fulfillments = yield* Fulfillments
    const changes = yield* StatusChanges
    const payments = yield* OrderPayments
    return handlers.handleAll({
      list: ({ query }) => orders.list({ status: query.status }, pageOf(query)),
      read: ({ params }) => payments.get(params.idOrNumber),
      changeStatus: ({ params, payload }) => changes.change(params.id, payload),
      fulfillments: ({ params, query }) => fulfillments.ofOrder(params.id, pageOf(query))
    })
  })
)

export const adminOrdersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AdminOrdersGroup),
  "orderDesk",
  Effect.fnUntraced(function*(handlers) {
    const quotes = yield* Quotes
    const manual = yield* ManualOrders
    const edits = yield* OrderEdits
    return handlers.handleAll({
      quote: ({ payload }) => quotes.quote(payload),
      create: ({ payload }) => manual.create(payload),
      addLine: ({ params, payload }) => edits.addLine(params.id, payload),
      changeLine: ({ params, payload }) => edits.changeLine(params.id, params.lineId, payload),
      removeLine: ({ params }) => Effect.as(edits.removeLine(params.id, params.lineId), deleted)
    })
  })
)

export const orderRecordsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrderRecordsGroup),
  "orderRecords",
  Effect.fnUntraced(function*(handlers) {
    const records = yield* OrderRecords
    return handlers.handleAll({
      lookup: ({ query }) => records.lookup(query.q),
      timeline: ({ params, query }) => records.timeline(params.id, pageOf(query)),
      notes: ({ params, query }) => records.notes(params.id, pageOf(query)),
      addNote: ({ params, payload }) => records.addNote(params.id, payload),
      removeNote: ({ params }) => Effect.as(records.removeNote(params.id, params.noteId), deleted),
      myNotes: ({ params, query }) => records.ownNotes(params.idOrNumber, pageOf(query))
    })
  })
)

export const fulfillmentsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FulfillmentsGroup),
  "fulfillments",
  Effect.fnUntraced(function*(handlers) {
    const shipments = yield* Shipments
    return handlers.handleAll({
      create: ({ params, payload }) => shipments.create(params.id, payload),
      change: ({ params, payload }) => shipments.change(params.id, params.fulfillmentId, payload)
    })
  })
)

/** A cached redirect would not be counted. */
const uncached = { "cache-control": "no-store" }

export const downloadsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(DownloadsGroup),
  "downloads",
  Effect.fnUntraced(function*(handlers) {
    const downloads = yield* Downloads
    return handlers.handleAll({
      follow: ({ params, query }) =>
        Effect.map(
          downloads.follow(params.id, query),
          (file) => HttpServerResponse.redirect(file, { headers: uncached })
        )
    })
  })
)

const headersOf = (fileName: string) => ({
  "content-disposition": `inline; filename="${fileName}"`,
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
})

const pageAnswer = ({ fileName, html }: { readonly fileName: string; readonly html: string }) =>
  HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers: headersOf(fileName) })

export const invoicesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(InvoicesGroup),
  "invoices",
  Effect.fnUntraced(function*(handlers) {
    const invoices = yield* Invoices
    const mails = yield* InvoiceMails
    return handlers.handleAll({
      pdf: ({ params }) =>
        Effect.map(
          invoices.file(params.id),
          ({ fileName, pdf }) =>
            HttpServerResponse.uint8Array(pdf, { contentType: "application/pdf", headers: headersOf(fileName) })
        ),
      html: ({ params }) => Effect.map(invoices.page(params.id), pageAnswer),
      receipt: ({ params }) => Effect.map(invoices.receipt(params.id), pageAnswer),
      email: ({ params, payload }) => mails.send(params.id, payload ?? {})
    })
  })
)
