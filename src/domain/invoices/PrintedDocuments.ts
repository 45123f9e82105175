import { Context, Effect, Layer } from "effect"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import { moneyText } from "../platform/money/DisplayText.ts"
import { InvoiceSettings, wordsOf } from "./Invoice.ts"
import { type Fact, oneLine, type ShownDocument } from "./InvoiceDocument.ts"
import { InvoicePdf } from "./Invoices.ts"

/** A document to print, as plain data: an order to a supplier, a transfer, a production order. */
export interface PrintedDocument {
  readonly title: string
  /** Shown below the title, and the name of the file. */
  readonly number: string
  /** Shown as its day in UTC. The same data gives the same bytes. */
  readonly date: Date
  /** Below the number and the date. At most 8. */
  readonly facts?: ReadonlyArray<Fact>
  /** Two of them side by side, of at most 10 lines each. */
  readonly parties?: ReadonlyArray<{ readonly label: string; readonly lines: ReadonlyArray<string> }>
  /** Titles of 1 to 7 columns; all but the first are aligned right. */
  readonly columns: ReadonlyArray<string>
  /** The title is the first column, with up to 5 details under it. At most 2,000 rows. */
  readonly rows: ReadonlyArray<{
    readonly title: string
    readonly details?: ReadonlyArray<string>
    readonly cells: ReadonlyArray<string>
  }>
  /** At most 10. */
  readonly totals?: ReadonlyArray<Fact>
  /** Paragraphs at the end. At most 20. */
  readonly notes?: ReadonlyArray<string>
}

const maxRows = 2_000
class TooManyRows
  extends invalid("TooManyRows", "rows", (count: number) => `must have at most ${maxRows} entries, and has ${count}.`)
{}

const short = (text: string, length: number): string => oneLine(text.slice(0, 2 * length)).slice(0, length)

const factsOf = (facts: ReadonlyArray<Fact>, count: number): ReadonlyArray<Fact> =>
  facts.slice(0, count).map((fact) => ({ ...fact, label: short(fact.label, 60), value: short(fact.value, 60) }))

/** Documents of plugins with the seller, fonts and language of invoices (docs/plugins.md). */
export class PrintedDocuments extends Context.Service<PrintedDocuments>()("stoa/domain/invoices/PrintedDocuments", {
  make: Effect.gen(function*() {
    const pdf = yield* InvoicePdf
    const { locale, sellerLines, sellerName, taxNumber, timeZone, ...settings } = yield* InvoiceSettings
    const words = wordsOf(settings, locale)
    const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone })

    const shown = (given: PrintedDocument): ShownDocument => {
      const { columns, date, facts = [], notes = [], parties = [], rows, title, totals = [] } = given
      const others = columns.slice(1, 7)
      return {
        locale,
        date,
        title: short(title, 40),
        seller: { name: oneLine(sellerName), lines: sellerLines.map(oneLine) },
        facts: [
          { label: words.number, value: short(given.number, 60) },
          { label: words.date, value: dates.format(date) },
          ...factsOf(facts, 8),
          ...(taxNumber === null ? [] : [{ label: words.taxNumber, value: taxNumber }])
        ],
        parties: parties.slice(0, 2).map(({ label, lines }) => ({
          label: short(label, 60),
          lines: lines.slice(0, 10).map((line) => short(line, 120))
        })),
        columns: columns.slice(0, 7).map((column) => short(column, 40)),
        widths: others.map(() => Math.min(70, 330 / others.length)),
        rows: rows.map(({ cells, details = [], ...row }) => ({
          title: short(row.title, 255),
          details: details.slice(0, 5).map((detail) => short(detail, 255)).filter((detail) => detail !== ""),
          cells: cells.slice(0, others.length).map((cell) => short(cell, 40))
        })),
        totals: factsOf(totals, 10),
        taxes: { label: "", columns: [], rows: [] },
        payments: { label: "", facts: [] },
        notes: notes.slice(0, 20).map((note) => short(note, 2_000)),
        page: words.page
      }
    }

    return {
      /** Draws the PDF in a separate thread. Longer texts are cut off; 422 for more than 2,000 rows. */
      pdf: Effect.fn("PrintedDocuments.pdf")(function*(document: PrintedDocument) {
        if (document.rows.length > maxRows) return yield* new TooManyRows(document.rows.length)
        const name = document.number.replace(/[^\w.-]+/g, "-").slice(0, 80)
        const headers: Readonly<Record<string, string>> = {
          "content-type": "application/pdf",
          "content-disposition": `inline; filename="${name}.pdf"`
        }
        return { headers, body: yield* pdf.draw(shown(document)) }
      }),
      /** An amount of minor units as invoices show it. */
      money: (amount: number, currency: string): string => moneyText(amount, currency, locale)
    }
  })
}) {
  static readonly layer = Layer.effect(PrintedDocuments, PrintedDocuments.make)
}
