import { parse } from "csv-parse/sync"
import { Effect, Result, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { CurrencyCode, parseAmount } from "../../src/domain/platform/money/Money.ts"
import { type Invoice, InvoiceBook, type RefusedLine } from "./InvoiceBook.ts"
import { ReplayFailed } from "./ReplayFailed.ts"

/** The currency of the file's prices. */
export const currency = CurrencyCode.make("GBP")

/** Most units of one thing that a cart takes. */
const mostUnits = 9999

/** Columns without which no line can be used. */
const needed = ["InvoiceNo", "StockCode", "Quantity", "UnitPrice"]

const Row = Schema.Struct({
  InvoiceNo: Schema.String,
  StockCode: Schema.String,
  Description: Schema.optional(Schema.String),
  Quantity: Schema.String,
  InvoiceDate: Schema.optional(Schema.String),
  UnitPrice: Schema.String,
  CustomerID: Schema.optional(Schema.String),
  Country: Schema.optional(Schema.String)
})

const Records = Schema.Array(Schema.Struct({
  record: Schema.Record(Schema.String, Schema.String),
  info: Schema.Struct({ lines: Schema.Int })
}))

const isRow = Schema.is(Row)

/** What the file says of one line, once it can be used. */
interface UsableLine extends Omit<Invoice, "lines"> {
  readonly line: number
  readonly cancellation: boolean
  readonly code: string
  readonly title: string
  readonly quantity: number
  readonly unitPrice: number
}

/** Why a line cannot be used, or what it says. */
const usable = (row: typeof Row.Type, line: number): Result.Result<UsableLine, string> => {
  const code = row.StockCode.toUpperCase()
  const quantity = Number(row.Quantity)
  const cancellation = /^C\d+$/i.test(row.InvoiceNo)
  if (!cancellation && !/^\d+$/.test(row.InvoiceNo)) return Result.fail("neither an invoice nor a cancellation")
  if (!/[A-Z0-9]/.test(code)) return Result.fail("no stock code")
  if (row.Quantity === "" || !Number.isSafeInteger(quantity)) {
    return Result.fail(`quantity "${row.Quantity}" is no whole number`)
  }
  return Result.flatMap(
    Result.mapError(parseAmount(row.UnitPrice, currency), ({ message }) => message),
    (unitPrice) => {
      if (unitPrice === 0) return Result.fail("no price")
      if (unitPrice < 0) return Result.fail(`negative price ${row.UnitPrice}`)
      if (cancellation && quantity >= 0) return Result.fail(`a cancellation that takes back ${-quantity} units`)
      if (!cancellation && quantity <= 0) return Result.fail(`an invoice over ${quantity} units`)
      if (cancellation && !/\d/.test(code)) return Result.fail("a charge or discount: there are no goods to put back")
      if (Math.abs(quantity) > mostUnits) return Result.fail(`more than ${mostUnits} units in one line`)
      return Result.succeed({
        line,
        cancellation,
        number: row.InvoiceNo.toUpperCase(),
        code,
        title: row.Description ?? "",
        quantity: Math.abs(quantity),
        unitPrice,
        date: row.InvoiceDate ?? "",
        customer: row.CustomerID ?? "",
        country: row.Country || "Unspecified"
      })
    }
  )
}

/** The file is UTF-8, or Windows-1252 where its bytes are not: the original of the data set has pound signs in it. */
const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder("windows-1252").decode(bytes)
  }
}

const recordsOf = (text: string): unknown =>
  parse(text, {
    bom: true,
    columns: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true
  })

/**
 * Reads a file of invoice lines (columns of the UCI Online Retail data set) into invoices, stock returns and refused
 * lines. Nothing is dropped silently: every line is in one of the three.
 */
export const readInvoices = Effect.fnUntraced(function*(path: string) {
  const bytes = yield* Effect.tryPromise({
    try: () => readFile(path),
    catch: () => new ReplayFailed({ message: `${path} cannot be read.` })
  })
  const parsed = yield* Effect.try({
    try: () => recordsOf(textOf(bytes)),
    catch: (error) => new ReplayFailed({ message: `${path} is no CSV file: ${String(error)}` })
  })
  const records = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Records)(parsed),
    () => new ReplayFailed({ message: `${path} is no table with a line of column names.` })
  )
  const names = Object.keys(records[0]?.record ?? {})
  const missing = names.length === 0 ? [] : needed.filter((name) => !names.includes(name))
  if (missing.length > 0) return yield* new ReplayFailed({ message: `${path} has no column ${missing.join(", ")}.` })
  const book = new InvoiceBook()
  for (const { info, record } of records) {
    const refused = (reason: string): RefusedLine => ({
      line: info.lines,
      invoice: record["InvoiceNo"] ?? "",
      code: record["StockCode"] ?? "",
      reason
    })
    if (!isRow(record)) {
      book.refuse(refused("incomplete"))
      continue
    }
    const read = usable(record, info.lines)
    if (Result.isFailure(read)) {
      book.refuse(refused(read.failure))
      continue
    }
    const { cancellation, line, ...said } = read.success
    if (cancellation) book.takeBack({ ...said, line })
    else if (!book.sell({ ...said, line }, mostUnits)) {
      book.refuse(refused(`with this line more than ${mostUnits} units`))
    }
  }
  return book
})
