import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { parentPort, workerData } from "node:worker_threads"
import Pdf from "pdfkit"
import type { ShownDocument } from "../../domain/invoices/InvoiceDocument.ts"
import { drawInvoice, type Fonts } from "./InvoiceSheet.ts"

/** A document to draw; the answer has the same id. */
export interface DrawRequest {
  readonly id: number
  readonly document: ShownDocument
}

/** The PDF, or the error. */
export type DrawAnswer =
  | { readonly id: number; readonly pdf: Uint8Array }
  | { readonly id: number; readonly failure: string }

const resolve = createRequire(import.meta.url).resolve

/** Latin, Cyrillic, Greek and more, under a free licence (docs/adr/0010). */
const builtIn: Fonts<string> = {
  regular: resolve("dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf"),
  bold: resolve("dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf")
}

const readFonts = async ({ bold, regular }: Fonts<string>): Promise<Fonts<Uint8Array>> => ({
  regular: await readFile(regular),
  bold: await readFile(bold)
})

/** Files of the deployment, given when the thread was started. */
const files: Fonts<string> | null = workerData
const fonts = readFonts(files ?? builtIn)

const drawn = async (document: ShownDocument): Promise<Uint8Array> => {
  const loaded = await fonts
  const title = `${document.title} ${document.facts[0]?.value ?? ""}`
  // With the date of the document its bytes are the same each time it is drawn.
  const info = {
    Title: title,
    Author: document.seller.name,
    Creator: document.seller.name,
    CreationDate: document.date
  }
  const sheet = new Pdf({ size: "A4", margin: 50, bufferPages: true, info, lang: document.locale })
  const parts: Array<Uint8Array> = []
  sheet.on("data", (part: Uint8Array) => parts.push(part))
  const ended = new Promise<void>((done, failed) => {
    sheet.on("end", done)
    sheet.on("error", failed)
  })
  drawInvoice(sheet, document, loaded)
  sheet.end()
  await ended
  return new Uint8Array(Buffer.concat(parts))
}

parentPort?.on("message", ({ document, id }: DrawRequest) => {
  const answer = (said: DrawAnswer) => parentPort?.postMessage(said)
  drawn(document).then((pdf) => answer({ id, pdf }), (error: unknown) => answer({ id, failure: String(error) }))
})
