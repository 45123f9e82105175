import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { InvoiceSettings } from "../../domain/invoices/Invoice.ts"
import type { ShownDocument } from "../../domain/invoices/InvoiceDocument.ts"
import { InvoicePdf } from "../../domain/invoices/Invoices.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import type { DrawAnswer, DrawRequest, Fonts } from "./InvoiceWorker.ts"

interface Waiting {
  readonly done: (pdf: Uint8Array) => void
  readonly failed: (error: Error) => void
}

/** A thread that draws one document after the other, started by the first, because most processes draw none. */
class DrawingThread {
  readonly #fonts: Fonts<string> | null
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #last = 0

  constructor(fonts: Fonts<string> | null) {
    this.#fonts = fonts
  }

  draw(document: ShownDocument): Promise<Uint8Array> {
    const worker = this.#worker ?? this.#start()
    const request: DrawRequest = { id: ++this.#last, document }
    return new Promise((done, failed) => {
      this.#waiting.set(request.id, { done, failed })
      // It keeps the process alive while it draws, and no longer.
      worker.ref()
      worker.postMessage(request)
    })
  }

  async end(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL("./InvoiceWorker.ts", import.meta.url), { workerData: this.#fonts })
    worker.on("message", (answer: DrawAnswer) => {
      const waiting = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      if (this.#waiting.size === 0) worker.unref()
      if ("pdf" in answer) waiting?.done(answer.pdf)
      else waiting?.failed(new Error(answer.failure))
    })
    // The next document starts another one.
    worker.on("error", (error) => this.#lost(error instanceof Error ? error : new Error(String(error))))
    worker.on("exit", () => this.#lost(new Error("The thread that draws invoices has ended.")))
    this.#worker = worker
    return worker
  }

  #lost(error: Error): void {
    this.#worker = undefined
    for (const { failed } of this.#waiting.values()) failed(error)
    this.#waiting.clear()
  }
}

/**
 * Draws invoices with pdfkit in a separate thread: a document takes a tenth of a second of processor time, in which all
 * requests would wait.
 */
export const pdfInvoices: Layer.Layer<InvoicePdf, never, InvoiceSettings> = Layer.effect(
  InvoicePdf,
  Effect.gen(function*() {
    const { fonts } = yield* InvoiceSettings
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new DrawingThread(fonts)),
      (started) => Effect.promise(() => started.end())
    )
    const draw = Effect.fn("InvoicePdf.draw")((document: ShownDocument) => Effect.promise(() => thread.draw(document)))
    return { draw }
  })
)

/** The configured settings of invoices and their PDF adapter. Invoices use the language of mails by default. */
export const invoiceAdapters = ({ deployment: { invoices, storeName }, mail: { locale } }: AppSettings) =>
  Layer.provideMerge(
    pdfInvoices,
    InvoiceSettings.layerOf({ sellerName: storeName, locale, ...invoices })
  )
