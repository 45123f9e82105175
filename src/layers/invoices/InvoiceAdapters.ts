import { Layer } from "effect"
import { defaultInvoiceOptions, InvoiceSettings } from "../../domain/invoices/InvoiceSettings.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { pdfInvoices } from "./PdfInvoices.ts"

/** The settings of invoices and what draws them, as the deployment configured them; in the language of its mails. */
export const invoiceAdapters = ({ deployment: { invoices = {}, storeName }, mail: { locale } }: AppSettings) =>
  Layer.provideMerge(
    pdfInvoices,
    InvoiceSettings.layerOf({ sellerName: storeName ?? defaultInvoiceOptions.sellerName, locale, ...invoices })
  )
