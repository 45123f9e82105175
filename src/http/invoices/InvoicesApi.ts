import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { InvoiceMail, SentInvoice } from "../../domain/mail/InvoiceMail.ts"
import { Data, OptionalBody } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { OpensWithCartSecret } from "../openapi/HeaderParameters.ts"

const Html = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
const Pdf = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/pdf" }))

const reading = anyOf("orders:read", "orders:read:own")
const params = { id: Uuid }

/** Invoices and receipts of orders, for callers who may read the order (contract §4.4). */
export const InvoicesGroup = HttpApiGroup.make("invoices").add(
  HttpApiEndpoint.get("pdf", "/api/orders/:id/invoice.pdf", { params, success: Pdf })
    .annotate(Access, reading)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({
      summary: "The invoice of an order as PDF",
      description: "Issued when it is first asked for; 409 before the order is confirmed or paid."
    })),
  HttpApiEndpoint.get("html", "/api/orders/:id/invoice.html", { params, success: Html })
    .annotate(Access, reading)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "The invoice of an order as a page to print" })),
  HttpApiEndpoint.get("receipt", "/api/orders/:id/receipt.html", { params, success: Html })
    .annotate(Access, reading)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({
      summary: "What was paid for an order, as a page to print",
      description: "409 before anything was paid."
    })),
  HttpApiEndpoint.post("email", "/api/orders/:id/invoice/email", {
    params,
    payload: OptionalBody(InvoiceMail),
    success: Data(SentInvoice)
  })
    .annotate(Access, anyOf("orders:update"))
    .annotateMerge(OpenApi.annotations({
      summary: "Mail the invoice of an order",
      description:
        "To the address of the order, or another one. `queued` is false where no such mails are sent; 422 without address."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
