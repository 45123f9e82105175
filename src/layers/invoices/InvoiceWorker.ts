import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { parentPort, workerData } from "node:worker_threads"
import Pdf from "pdfkit"
import type { Fact, ShownDocument } from "../../domain/invoices/InvoiceDocument.ts"

type Sheet = PDFKit.PDFDocument

export interface Fonts<A> {
  readonly regular: A
  readonly bold: A
}

/** Points of A4. */
const left = 50
const right = 545
const bottom = 770
const gray = "#555555"
const black = "#1a1a1a"
const light = "#dddddd"

interface Column {
  readonly x: number
  readonly width: number
}

const itemColumns = (widths: ReadonlyArray<number>): ReadonlyArray<Column> => {
  const gap = 4
  const columns: Array<Column> = []
  let end = right
  for (const width of widths.toReversed()) {
    columns.unshift({ x: end - width, width })
    end -= width + gap
  }
  return [{ x: left, width: end - left }, ...columns]
}

const factColumns = (x: number, width: number): ReadonlyArray<Column> => [
  { x, width: width * 0.52 },
  { x: x + width * 0.52, width: width * 0.48 }
]

class Pen {
  y = left
  readonly sheet: Sheet

  constructor(sheet: Sheet, fonts: Fonts<Uint8Array>) {
    this.sheet = sheet
    sheet.registerFont("regular", Buffer.from(fonts.regular)).registerFont("bold", Buffer.from(fonts.bold))
  }

  set(size: number, strong = false, color = black): void {
    this.sheet.font(strong ? "bold" : "regular").fontSize(size).fillColor(color)
  }

  height(text: string, { width }: Column): number {
    return text === "" ? 0 : this.sheet.heightOfString(text, { width })
  }

  write(text: string, { width, x }: Column, y: number, align: "left" | "right" = "left"): void {
    if (text !== "") this.sheet.text(text, x, y, { width, align })
  }

  fit(text: string, column: Column, y: number, size: number, strong = false): void {
    let fitting = size
    this.set(fitting, strong)
    while (fitting > 5 && this.sheet.widthOfString(text) > column.width) {
      fitting -= 0.5
      this.set(fitting, strong)
    }
    this.sheet.text(text, column.x, y, { width: column.width, align: "right", lineBreak: fitting <= 5 })
  }

  row(texts: ReadonlyArray<string>, columns: ReadonlyArray<Column>, size: number, strong = false): void {
    for (const [index, text] of texts.entries()) {
      const column = columns[index]
      if (column === undefined) continue
      this.set(size, strong)
      if (index > 0) this.fit(text, column, this.y, size, strong)
      else this.write(text, column, this.y)
    }
  }

  rule(y: number, color = light, x = left, end = right): void {
    this.sheet.moveTo(x, y).lineTo(end, y).lineWidth(0.7).strokeColor(color).stroke()
  }

  need(height: number): boolean {
    if (this.y + height <= bottom) return false
    this.sheet.addPage()
    this.y = left
    return true
  }

  lines(all: ReadonlyArray<string>, column: Column, size: number, color = black): void {
    for (const line of all) {
      this.set(size, false, color)
      this.write(line, column, this.y)
      this.y += this.height(line, column) + 1
    }
  }
}

const drawFacts = (pen: Pen, facts: ReadonlyArray<Fact>, columns: ReadonlyArray<Column>) => {
  const [label = { x: left, width: 100 }, value = label] = columns
  for (const fact of facts) {
    pen.set(9, fact.strong, fact.strong === true ? black : gray)
    const height = Math.max(12, pen.height(fact.label, label)) + 3
    pen.need(height)
    pen.write(fact.label, label, pen.y)
    pen.fit(fact.value, value, pen.y, 9, fact.strong)
    pen.y += height
    if (fact.strong === true) {
      pen.rule(pen.y - 2, black, label.x, value.x + value.width)
      pen.y += 3
    }
  }
}

const drawHead = (pen: Pen, { facts, seller, title }: ShownDocument) => {
  const top = pen.y
  const own = { x: left, width: 260 }
  pen.set(15, true)
  pen.write(seller.name, own, top)
  pen.y = top + pen.height(seller.name, own) + 2
  pen.lines(seller.lines, own, 9, gray)
  const end = pen.y
  pen.set(20, true)
  pen.write(title, { x: 330, width: right - 330 }, top - 4, "right")
  pen.y = top + 26
  drawFacts(pen, facts, factColumns(330, right - 330))
  pen.y = Math.max(end, pen.y) + 18
}

const drawParties = (pen: Pen, { parties }: ShownDocument) => {
  const top = pen.y
  let end = top
  for (const [index, { label, lines }] of parties.entries()) {
    const column = { x: left + index * 255, width: 240 }
    pen.y = top
    pen.set(8, true, gray)
    pen.write(label, column, pen.y)
    pen.y += 12
    pen.lines(lines, column, 9)
    end = Math.max(end, pen.y)
  }
  pen.y = end + 18
}

const drawColumns = (pen: Pen, columns: ReadonlyArray<string>, places: ReadonlyArray<Column>) => {
  pen.row(columns, places, 8, true)
  const [first, last] = [places[0], places.at(-1)]
  pen.rule(pen.y + 13, black, first?.x, (last?.x ?? 0) + (last?.width ?? 0))
  pen.y += 18
}

const drawRows = (pen: Pen, { columns, rows, widths }: ShownDocument) => {
  const places = itemColumns(widths)
  drawColumns(pen, columns, places)
  const item = places[0] ?? { x: left, width: 100 }
  for (const { cells, details, title } of rows) {
    const under = details.join("\n")
    pen.set(9)
    const titleHeight = pen.height(title, item)
    pen.set(7.5)
    const height = Math.max(12, titleHeight + pen.height(under, item)) + 8
    if (pen.need(height)) drawColumns(pen, columns, places)
    pen.row([title, ...cells], places, 9)
    pen.set(7.5, false, gray)
    pen.write(under, item, pen.y + titleHeight)
    pen.y += height
    pen.rule(pen.y - 4)
  }
}

const drawTaxes = (pen: Pen, { columns, label, rows }: ShownDocument["taxes"]) => {
  if (rows.length === 0) return
  const places = [{ x: left, width: 110 }, { x: left + 114, width: 72 }, { x: left + 190, width: 72 }] as const
  pen.set(8, true, gray)
  pen.write(label, { x: left, width: 240 }, pen.y)
  pen.y += 15
  drawColumns(pen, columns, places)
  for (const row of rows) {
    pen.set(9)
    const height = Math.max(12, pen.height(row[0] ?? "", places[0])) + 3
    pen.need(height)
    pen.row(row, places, 9)
    pen.y += height
  }
}

const drawMoney = (pen: Pen, { payments, taxes }: ShownDocument) => {
  pen.need(40 + 16 * Math.max(payments.facts.length, taxes.rows.length + 1))
  const top = pen.y
  drawTaxes(pen, taxes)
  const end = pen.y
  pen.y = top
  pen.set(8, true, gray)
  pen.write(payments.label, { x: 330, width: right - 330 }, pen.y)
  pen.y += 15
  drawFacts(pen, payments.facts, factColumns(330, right - 330))
  pen.y = Math.max(end, pen.y) + 14
}

const drawFoot = (pen: Pen, document: ShownDocument) => {
  const { notes, page, payments } = document
  if (payments.facts.length > 0) drawMoney(pen, document)
  const whole = { x: left, width: right - left }
  for (const note of notes) {
    pen.set(8, false, gray)
    pen.need(pen.height(note, whole) + 2)
    pen.lines([note], whole, 8, gray)
  }
  const { count, start } = pen.sheet.bufferedPageRange()
  for (let index = 0; index < count; index++) {
    pen.sheet.switchToPage(start + index)
    // Text below the margin would start another page.
    pen.sheet.page.margins.bottom = 0
    pen.set(8, false, gray)
    pen.write(`${page} ${index + 1} / ${count}`, whole, 800, "right")
  }
}

const drawInvoice = (sheet: Sheet, document: ShownDocument, fonts: Fonts<Uint8Array>): void => {
  const pen = new Pen(sheet, fonts)
  drawHead(pen, document)
  drawParties(pen, document)
  drawRows(pen, document)
  pen.y += 6
  pen.need(16 * document.totals.length)
  drawFacts(pen, document.totals, factColumns(330, right - 330))
  pen.y += 12
  drawFoot(pen, document)
}

export type DrawAnswer = { readonly pdf: Uint8Array } | { readonly failure: string }

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

const files: Fonts<string> | null = workerData
const fonts = readFonts(files ?? builtIn)

const drawn = async (document: ShownDocument): Promise<Uint8Array> => {
  const loaded = await fonts
  const title = `${document.title} ${document.facts[0]?.value ?? ""}`
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

parentPort?.on("message", (document: ShownDocument) => {
  const answer = (said: DrawAnswer) => parentPort?.postMessage(said)
  drawn(document).then((pdf) => answer({ pdf }), (error: unknown) => answer({ failure: String(error) }))
})
