import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import type { Worker } from "node:worker_threads"
import { type InvoiceContent, InvoiceSettings, wordsOf } from "../../src/domain/invoices/Invoice.ts"
import { type InvoiceDocument, shown, taxGroups } from "../../src/domain/invoices/InvoiceDocument.ts"
import { htmlOf } from "../../src/domain/invoices/InvoiceHtml.ts"
import { InvoicePdf } from "../../src/domain/invoices/Invoices.ts"
import { pdfInvoices } from "../../src/layers/invoices/PdfInvoices.ts"
import { eventually } from "../support/Eventually.ts"
import { anInvoice } from "./AnInvoice.ts"

const words = wordsOf({ words: {} }, "en")

const show = (content: InvoiceContent, more: Partial<InvoiceDocument> = {}) =>
  shown({
    kind: "invoice",
    number: "INV-000007",
    date: new Date("2026-11-22T10:00:00Z"),
    content,
    payments: [],
    refunds: [],
    ...more
  }, words)

const drawing = pdfInvoices.pipe(Layer.provide(InvoiceSettings.layerOf()))

const pagesOf = (pdf: Uint8Array) => Buffer.from(pdf).toString("latin1").match(/\/Type \/Page\b(?!s)/g)?.length ?? 0

describe("an invoice", () => {
  it("adds lines and shipping with its tax up to the invoice's total", () => {
    const content = anInvoice({ lines: 7, shippingTax: 105 })
    const lines = content.lines.reduce((sum, { amount }) => sum + amount, 0)
    assert.strictEqual(lines + content.shippingTotal + 105, content.grandTotal)
    const groups = taxGroups(content)
    assert.strictEqual(groups.reduce((sum, { tax }) => sum + tax, 0), content.taxTotal)
    assert.deepStrictEqual(groups.map(({ rate }) => rate), [210, 90, null])
  })

  it("shows included tax without adding it", () => {
    const { totals } = show(anInvoice({ lines: 2, taxIncluded: true }))
    assert.deepStrictEqual(totals.map(({ label }) => label), [
      "Subtotal",
      "Discount",
      "Shipping",
      "Total",
      "Tax included"
    ])
  })

  it("writes amounts with the decimals of their currency and as its language does", () => {
    const first = (currency: string, locale: string) => {
      const { rows } = show({ ...anInvoice({ lines: 1 }), currency, locale })
      return rows[0]?.cells[1]?.replace(/\s/g, " ")
    }
    assert.deepStrictEqual([first("EUR", "en"), first("JPY", "en"), first("KWD", "en"), first("EUR", "de")], [
      "€12.50",
      "¥1,250",
      "KWD 1.250",
      "12,50 €"
    ])
  })

  it("shows the notes of a line under its title and SKU, and nothing for those without", () => {
    const [line] = anInvoice({ lines: 1 }).lines
    assert.isDefined(line)
    const details = (more: object) =>
      show({ ...anInvoice({ lines: 1 }), lines: [{ ...line, ...more }] }).rows[0]?.details
    assert.deepStrictEqual(details({ notes: "No\nonions" }), ["SKU-0", "No onions"])
    assert.deepStrictEqual(details({ sku: null, notes: null }), [])
    assert.deepStrictEqual(details({}), ["SKU-0"])
  })

  it("shows what is still to be paid", () => {
    const content = anInvoice({ lines: 1 })
    const at = new Date("2026-11-22T10:00:00Z")
    const due = (paid: number) => show(content, { payments: [{ at, amount: paid }] }).payments.facts.at(-1)?.value
    assert.strictEqual(due(content.grandTotal), "€0.00")
    assert.strictEqual(due(content.grandTotal - 150), "€1.50")
  })

  it("uses the words of a deployment, and English where it has none", () => {
    const { amount, invoice } = wordsOf({ words: { de: { invoice: "Rechnung" } } }, "de-AT")
    assert.deepStrictEqual([invoice, amount], ["Rechnung", "Amount"])
  })

  it("contains nothing that a browser would run or fetch", () => {
    const content = anInvoice({ lines: 1 })
    const hostile = "\"><img src=x onerror=alert(1)>"
    const html = htmlOf(show({
      ...content,
      billTo: [hostile],
      seller: { name: hostile, lines: [hostile], taxNumber: hostile, notes: [hostile] },
      lines: content.lines.map((line) => ({ ...line, title: hostile, sku: hostile, notes: hostile })),
      locale: "en"
    }))
    assert.notInclude(html, "<img")
    assert.strictEqual(html.match(/&lt;img src=x onerror=alert\(1\)&gt;/g)?.length, 8)
  })

  it.layer(drawing)("that cannot be drawn", (it) => {
    it.effect("draws the next invoice after one that cannot be drawn", () =>
      Effect.gen(function*() {
        const { draw } = yield* InvoicePdf
        const whole = show(anInvoice({ lines: 1 }))
        const exits = yield* Effect.all([
          Effect.exit(draw({ ...whole, date: new Date(Number.NaN) })),
          Effect.exit(draw(whole))
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(exits.map(({ _tag }) => _tag), ["Failure", "Success"])
      }))
  })

  it.layer(drawing)("whose thread is lost", (it) => {
    it.effect("fails an invoice whose thread is lost, and draws the next in another", () =>
      Effect.gen(function*() {
        const threads: Array<Worker> = []
        const seen = (thread: Worker) => void threads.push(thread)
        yield* Effect.acquireRelease(
          Effect.sync(() => process.on("worker", seen)),
          () => Effect.sync(() => process.off("worker", seen))
        )
        const { draw } = yield* InvoicePdf
        const document = show(anInvoice({ lines: 50 }))
        const lost = yield* Effect.forkChild(Effect.exit(draw(document)))
        yield* eventually("the thread", Effect.sync(() => threads.length === 1))
        yield* Effect.promise(async () => threads[0]?.terminate())
        assert.strictEqual((yield* Fiber.join(lost))._tag, "Failure")
        assert.strictEqual((yield* Effect.exit(draw(document)))._tag, "Success")
        assert.strictEqual(threads.length, 2)
      }))
  })

  const withoutFonts = pdfInvoices.pipe(
    Layer.provide(InvoiceSettings.layerOf({ fonts: { regular: "/gone", bold: "/gone" } }))
  )

  it.layer(withoutFonts)("whose fonts are gone", (it) => {
    it.effect("fails each invoice while its fonts are missing, and never hangs", () =>
      Effect.gen(function*() {
        const { draw } = yield* InvoicePdf
        for (let time = 0; time < 2; time++) {
          assert.strictEqual((yield* Effect.exit(draw(show(anInvoice({ lines: 1 })))))._tag, "Failure")
        }
      }))
  })

  it.layer(drawing)((it) => {
    it.effect("draws an invoice of many lines on several pages, one of few on one", () =>
      Effect.gen(function*() {
        const { draw } = yield* InvoicePdf
        assert.strictEqual(pagesOf(yield* draw(show(anInvoice({ lines: 3 })))), 1)
        const many = pagesOf(yield* draw(show(anInvoice({ lines: 200 }))))
        assert.isAtLeast(many, 5)
        assert.isAtMost(many, 15)
      }))
  })
})
