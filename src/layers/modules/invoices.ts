import { Layer } from "effect"
import { InvoiceRepo } from "../../domain/invoices/InvoiceRepo.ts"
import { Invoices } from "../../domain/invoices/Invoices.ts"
import { migrations } from "../../domain/invoices/migrations.ts"
import { PrintedDocuments } from "../../domain/invoices/PrintedDocuments.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { invoicesHttp } from "../../http/orders/OrdersHttp.ts"
import { customers } from "./customers.ts"
import { orders } from "./orders.ts"
import { payments } from "./payments.ts"

/** Invoices and receipts (docs/orders.md). Needs settings and `PdfInvoices.ts`. */
export const invoices = defineModule({
  id: "invoices",
  requires: [customers, orders, payments],
  migrations,
  services: Layer.mergeAll(Layer.provideMerge(Invoices.layer, InvoiceRepo.layer), PrintedDocuments.layer),
  routes: invoicesHttp
})
