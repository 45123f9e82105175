import { Context, type Effect } from "effect"
import type { ShownDocument } from "./InvoiceDocument.ts"

/** Draws documents as PDF: an adapter to a library (`layers/invoices`). */
export class InvoicePdf extends Context.Service<InvoicePdf, {
  /** A document of A4 pages. */
  readonly draw: (document: ShownDocument) => Effect.Effect<Uint8Array>
}>()("stoa/domain/invoices/InvoicePdf") {}
