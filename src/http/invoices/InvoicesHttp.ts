import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { type InvoiceFile, type InvoicePage, Invoices } from "../../domain/invoices/Invoices.ts"
import { InvoiceMails } from "../../domain/mail/InvoiceMails.ts"
import { InvoicesGroup } from "./InvoicesApi.ts"

/** The page may neither run scripts nor load anything. Every private response already forbids caching. */
const headersOf = (fileName: string) => ({
  "content-disposition": `inline; filename="${fileName}"`,
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
})

const pageAnswer = ({ fileName, html }: InvoicePage) =>
  HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers: headersOf(fileName) })

const fileAnswer = ({ fileName, pdf }: InvoiceFile) =>
  HttpServerResponse.uint8Array(pdf, { contentType: "application/pdf", headers: headersOf(fileName) })

/** Handlers of the routes that `InvoicesApi.ts` declares. */
export const invoicesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(InvoicesGroup),
  "invoices",
  Effect.fnUntraced(function*(handlers) {
    const invoices = yield* Invoices
    const mails = yield* InvoiceMails
    return handlers.handleAll({
      pdf: ({ params }) => Effect.map(invoices.file(params.id), fileAnswer),
      html: ({ params }) => Effect.map(invoices.page(params.id), pageAnswer),
      receipt: ({ params }) => Effect.map(invoices.receipt(params.id), pageAnswer),
      email: ({ params, payload }) => mails.send(params.id, payload ?? {})
    })
  })
)
