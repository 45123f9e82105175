import { Effect, Result, Schema } from "effect"
import { Sellables } from "../../catalog/Sellables.ts"
import { ExternalPictures, ShownPicture } from "../../media/ExternalPictures.ts"
import { type Issue, wholeIssue } from "../../platform/errors/ApiErrors.ts"
import { CurrencyCode, parseAmount } from "../../platform/money/Money.ts"
import { maybe } from "../../platform/text/Fields.ts"
import { strictly } from "../../platform/text/Issues.ts"
import { Moment, Until } from "../../platform/text/Time.ts"
import { type NamedProduct, ProductRecord } from "../catalog/ProductRecord.ts"
import type { ExternalShop } from "../Import.ts"
import type { PriceRecord } from "../PriceImport.ts"
import type { StockRecord } from "../StockImport.ts"
import {
  type BatchContext,
  type BatchResult,
  changesOf,
  type ImportResult,
  type Upsert,
  warningsOf
} from "../Upsert.ts"
import { type ExternalRecord, externalRecord } from "./ExternalTables.ts"

const name = {
  sku: Schema.optional(Schema.String),
  options: Schema.optional(Schema.Record(Schema.String, Schema.String))
}

/** A decimal number in major units, with the decimal point or comma of the other shop. */
const Decimal = Schema.String.check(Schema.isPattern(/^\d{1,15}([.,]\d{1,6})?$/, { expected: "a price such as 12.50" }))

/** A product of another shop's file. Prices are in major units of the currency that the import names. */
const CheckedRecord = Schema.Struct({
  product: ProductRecord,
  prices: Schema.Array(Schema.Struct({
    ...name,
    amount: Decimal,
    compareAtAmount: Schema.optional(Decimal),
    validFrom: maybe(Moment),
    validUntil: maybe(Until)
  })),
  stock: Schema.Array(Schema.Struct({
    ...name,
    onHand: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 })),
    reorderThreshold: Schema.optional(Schema.NumberFromString.pipe(Schema.check(Schema.isInt()))),
    unitCost: Schema.optional(Decimal)
  }))
})

const readRecord = strictly(CheckedRecord)
const readCurrency = strictly(CurrencyCode)

/** Minor units. Trailing zeros beyond the currency's decimals are ignored. */
const minor = (path: string, sent: string, currency: CurrencyCode): Result.Result<number, ReadonlyArray<Issue>> => {
  const text = sent.replace(",", ".")
  const plain = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text
  return Result.mapError(parseAmount(plain, currency), ({ message }) => [{ path, message, code: "invalid" }])
}

const unreadable = (message: string): ReadonlyArray<Issue> => [{ path: "", message, code: "unreadable" }]

/** Checks a record, and turns its prices into minor units. */
export const productOf = ({ named, record, warnings }: ExternalRecord, of: BatchContext) =>
  Effect.gen(function*() {
    const { prices, product, stock } = yield* readRecord(record)
    const currency = yield* readCurrency(of.currency)
    const { slug } = product
    const minorOr = <A>(path: string, text: string | undefined, absent: A) =>
      text === undefined ? Result.succeed(absent) : minor(path, text, currency)
    const priceOf = ({ amount, compareAtAmount, ...price }: ExternalPrice, path: string) =>
      Result.map(
        Result.all({
          amount: minor(`${path}.amount`, amount, currency),
          compareAtAmount: minorOr(`${path}.compareAtAmount`, compareAtAmount, null)
        }),
        (amounts): PriceRecord => ({ ...price, ...amounts, slug, currency })
      )
    return {
      product: { ...product, named },
      warnings,
      prices: yield* Effect.fromResult(Result.all(prices.map((price, index) => priceOf(price, `prices.${index}`)))),
      stock: yield* Effect.fromResult(Result.all(stock.map((level, index) =>
        Result.map(
          minorOr(`stock.${index}.unitCost`, level.unitCost, undefined),
          (unitCost): StockRecord => ({ ...level, slug, unitCost })
        )
      )))
    }
  })

export const readProduct = (shop: ExternalShop) => (staged: unknown, of: BatchContext) =>
  Effect.flatMap(
    Effect.fromResult(Result.mapError(externalRecord(shop, staged), unreadable)),
    (record) => productOf(record, of)
  )

type ExternalPrice = typeof CheckedRecord.Type["prices"][number]
export type ExternalProduct = Effect.Success<ReturnType<typeof productOf>>

const isPicture = Schema.is(ShownPicture)

const picturesOf = ({ product: { metadata } }: ExternalProduct): ReadonlyArray<ShownPicture> => {
  const images = metadata?.["images"]
  return Array.isArray(images) ? images.filter(isPicture) : []
}

const together = (
  product: ImportResult,
  said: ReadonlyArray<string>,
  parts: ReadonlyArray<{ readonly part: "prices" | "stock"; readonly result: ImportResult | undefined }>
): ImportResult => {
  if (product._tag === "refused") return product
  const issues = parts.flatMap(({ part, result }) =>
    result?._tag === "refused"
      ? result.issues.map((issue) => ({
        ...issue,
        path: part,
        message: `${wholeIssue(issue).message} The product was written.`
      }))
      : []
  )
  if (issues.length > 0) return { _tag: "refused", issues, isWritten: true }
  const warnings = [
    ...said.map((message) => ({ path: "", message, code: "not_imported" })),
    ...product.warnings ?? [],
    ...parts.flatMap(({ part, result }) => warningsOf(result).map((issue) => ({ ...issue, path: part })))
  ]
  const changes = [...changesOf(product), ...parts.flatMap(({ result }) => changesOf(result))]
  const isChanged = product._tag === "unchanged" && parts.some(({ result }) => result?._tag !== "unchanged")
  return { _tag: isChanged ? "updated" : product._tag, warnings, changes }
}

export const externalImport = (
  putProducts: Upsert<NamedProduct>,
  putPrices: Upsert<PriceRecord>,
  putStock: Upsert<StockRecord>
) =>
  Effect.gen(function*() {
    const sellables = yield* Sellables
    const pictures = yield* ExternalPictures

    const expectPictures = Effect.fnUntraced(function*(written: ReadonlyArray<ExternalProduct>) {
      const shown = written.map((one) => ({ slug: one.product.slug, pictures: picturesOf(one) }))
        .filter(({ pictures }) => pictures.length > 0)
      if (shown.length === 0) return
      const targets = yield* sellables.find(shown.map(({ slug }) => ({ slug })))
      yield* pictures.expect(shown.flatMap(({ pictures }, at) => {
        const target = targets[at]
        return typeof target === "object" ? [{ entityId: target.entityId, pictures }] : []
      }))
    })

    return Effect.fn("ExternalProducts.upsert")(function*(products: ReadonlyArray<ExternalProduct>, of: BatchContext) {
      const made = yield* putProducts(products.map(({ product }) => product), of)
      const written = products.map((one, index) => ({ ...one, index })).filter(({ index }) =>
        made.results[index]?._tag !== "refused"
      )
      // A rehearsal fetches nothing: it could not roll back jobs in an external engine.
      if (of.pictures && !of.dryRun) yield* expectPictures(written)
      const priced = written.flatMap(({ index, prices }) => prices.map((record) => ({ index, record })))
      const counted = written.flatMap(({ index, stock }) => stock.map((record) => ({ index, record })))
      const set = yield* putPrices(priced.map(({ record }) => record), of)
      const put = yield* putStock(counted.map(({ record }) => record), of)
      const parts = Map.groupBy([
        ...priced.map(({ index }, at) => ({ index, part: "prices" as const, result: set.results[at] })),
        ...counted.map(({ index }, at) => ({ index, part: "stock" as const, result: put.results[at] }))
      ], ({ index }) => index)
      const result: BatchResult = {
        results: made.results.map((one, index) =>
          together(one, products[index]?.warnings ?? [], parts.get(index) ?? [])
        ),
        afterCommit: Effect.all([made.afterCommit, set.afterCommit, put.afterCommit], { discard: true })
      }
      return result
    })
  })
