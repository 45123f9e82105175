import { Effect, Layer, Semaphore } from "effect"
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { InvoiceSettings } from "../../domain/invoices/Invoice.ts"
import type { ShownDocument } from "../../domain/invoices/InvoiceDocument.ts"
import { InvoicePdf } from "../../domain/invoices/Invoices.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import type { DrawAnswer } from "./InvoiceWorker.ts"

/**
 * Draws invoices one by one in a thread: each takes a tenth of a second of processor time. The first starts it: most
 * processes draw none.
 */
export const pdfInvoices: Layer.Layer<InvoicePdf, never, InvoiceSettings> = Layer.effect(
  InvoicePdf,
  Effect.gen(function*() {
    const { fonts } = yield* InvoiceSettings
    const turn = yield* Semaphore.make(1)
    let running: Worker | undefined
    yield* Effect.addFinalizer(() => Effect.promise(async () => running?.terminate()))

    const start = (): Worker => {
      const thread = new Worker(new URL("./InvoiceWorker.ts", import.meta.url), { workerData: fonts })
      const lost = () => {
        if (running === thread) running = undefined
      }
      return thread.on("error", lost).on("exit", lost)
    }

    const drawn = async (document: ShownDocument): Promise<Uint8Array> => {
      const thread = running ??= start()
      const waiting = new AbortController()
      const ended = once(thread, "exit", waiting).then(() => {
        throw new Error("The thread that draws invoices has ended.")
      })
      // It keeps the process alive only while it draws.
      thread.ref()
      thread.postMessage(document)
      try {
        const [answer]: ReadonlyArray<DrawAnswer> = await Promise.race([once(thread, "message", waiting), ended])
        if (answer !== undefined && "pdf" in answer) return answer.pdf
        throw new Error(answer?.failure)
      } finally {
        waiting.abort()
        thread.unref()
      }
    }

    return { draw: Effect.fn("InvoicePdf.draw")((document) => turn.withPermit(Effect.promise(() => drawn(document)))) }
  })
)

export const invoiceAdapters = (
  { deployment: { invoices, store: { timeZone }, storeName }, mail: { locale } }: AppSettings
) =>
  Layer.provideMerge(
    pdfInvoices,
    InvoiceSettings.layerOf({ sellerName: storeName, locale, timeZone, ...invoices })
  )
