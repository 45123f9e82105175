import { Context, Effect, Layer, Result } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { CatalogBatches } from "../catalog/import-export/CatalogBatches.ts"
import { Sellables } from "../catalog/Sellables.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import { StockImport } from "../inventory/StockImport.ts"
import { ForeignPictures, type ShownPicture } from "../media/ForeignPictures.ts"
import { CurrencyCode, parseAmount } from "../money/Currency.ts"
import { PriceImport } from "../pricing/PriceImport.ts"
import { strictly } from "../text/Issues.ts"
import { ExternalRecord } from "./ExternalRecord.ts"
import type { Import } from "./Import.ts"
import type { BatchResult, ImportResult } from "./ImportBatch.ts"

const readRecord = strictly(ExternalRecord)
const readCurrency = strictly(CurrencyCode)

/** A price or a cost in minor units. Trailing zeros beyond the currency's decimals are ignored. */
const minor = (text: string, currency: CurrencyCode): Result.Result<number, string> => {
  const plain = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text
  return Result.mapError(parseAmount(plain, currency), ({ message }) => message)
}

type Priced = ReadonlyArray<{ readonly amount: number; readonly compareAtAmount: number | null }>

/** A product with its prices in minor units. */
export interface ExternalProduct extends Omit<ExternalRecord, "prices" | "stock"> {
  readonly currency: CurrencyCode
  readonly prices: ReadonlyArray<
    Omit<ExternalRecord["prices"][number], "amount" | "compareAtAmount"> & Priced[number]
  >
  readonly stock: ReadonlyArray<
    Omit<ExternalRecord["stock"][number], "unitCost"> & { readonly unitCost?: number }
  >
}

/** Reads a product of another shop; prices count in the currency of the import. */
export const readProduct = (record: unknown, of: Import): Result.Result<ExternalProduct, ReadonlyArray<Issue>> =>
  Result.gen(function*() {
    const found = yield* readRecord(record)
    const currency = yield* readCurrency(of.currency)
    const amountOf = (path: string, text: string) =>
      Result.mapError(minor(text, currency), (message): ReadonlyArray<Issue> => [{ path, message, code: "invalid" }])
    const prices: Array<ExternalProduct["prices"][number]> = []
    for (const [index, { amount, compareAtAmount, ...price }] of found.prices.entries()) {
      prices.push({
        ...price,
        amount: yield* amountOf(`prices.${index}.amount`, amount),
        compareAtAmount: compareAtAmount === undefined
          ? null
          : yield* amountOf(`prices.${index}.compareAtAmount`, compareAtAmount)
      })
    }
    const stock: Array<ExternalProduct["stock"][number]> = []
    for (const [index, { unitCost, ...level }] of found.stock.entries()) {
      stock.push(
        unitCost === undefined ? level : {
          ...level,
          unitCost: yield* amountOf(`stock.${index}.unitCost`, unitCost)
        }
      )
    }
    return { product: found.product, currency, prices, stock }
  })

/** The result of a product combined with those of its prices and stock. */
const together = (
  product: ImportResult,
  parts: ReadonlyArray<{ readonly of: "prices" | "stock"; readonly outcome: ImportResult }>
): ImportResult => {
  if (product._tag === "refused") return product
  const issues = parts.flatMap(({ of, outcome }) =>
    outcome._tag === "refused"
      ? outcome.issues.map((issue) => ({ ...issue, path: of, message: `${issue.message} (the product was written)` }))
      : []
  )
  if (issues.length > 0) return { _tag: "refused", issues }
  const moved = parts.some(({ outcome }) => outcome._tag !== "unchanged")
  return product._tag === "unchanged" && moved ? { _tag: "updated" } : product
}

const isPicture = (one: unknown): one is ShownPicture =>
  typeof one === "object" && one !== null && "src" in one && typeof one.src === "string" &&
  (!("alt" in one) || typeof one.alt === "string")

/** The pictures of a product, as the formats of other shops keep them in its metadata. */
const picturesOf = ({ product: { metadata } }: ExternalProduct): ReadonlyArray<ShownPicture> => {
  const images = metadata?.["images"]
  return Array.isArray(images) ? images.filter(isPicture) : []
}

/** Products of other shops: the catalog first, then prices and stock of what is in it. */
export class ExternalProducts extends Context.Service<ExternalProducts, {
  readonly apply: (
    products: ReadonlyArray<ExternalProduct>,
    of: Import
  ) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/import-export/ExternalProducts") {
  static readonly layer = Layer.effect(
    ExternalProducts,
    Effect.gen(function*() {
      const catalog = yield* CatalogBatches
      const sellables = yield* Sellables
      const prices = yield* PriceImport
      const levels = yield* StockImport
      const pictures = yield* ForeignPictures

      const apply = Effect.fn("ExternalProducts.apply")(
        function*(products: ReadonlyArray<ExternalProduct>, of: Import) {
          const made = yield* catalog.apply(products.map(({ product }) => product))
          const written = products.map((product, index) => ({ product, index })).filter(({ index }) =>
            made.results[index]?._tag !== "refused"
          )
          const priced = written.flatMap(({ index, product: { currency, prices, product } }) =>
            prices.map((price) => ({ index, name: { ...price, slug: product.slug }, price: { ...price, currency } }))
          )
          const counted = written.flatMap(({ index, product: { product, stock } }) =>
            stock.map((level) => ({
              index,
              name: { ...level, slug: product.slug },
              level: { ...level, warehouse: of.warehouse }
            }))
          )
          // A rehearsal fetches nothing: it could not roll back jobs in an external engine.
          const shown = of.pictures && !of.dryRun
            ? written.map(({ product }) => ({ name: { slug: product.product.slug }, pictures: picturesOf(product) }))
              .filter(({ pictures }) => pictures.length > 0)
            : []
          const targets = yield* sellables.find([...priced, ...counted, ...shown].map(({ name }) => name))
          yield* pictures.expect(shown.flatMap(({ pictures }, at) => {
            const target = targets[priced.length + counted.length + at]
            return typeof target === "object" ? [{ entityId: target.entityId, pictures }] : []
          }))
          const set = yield* prices.upsert(priced.map(({ price: { options: _, sku: __, ...record } }, at) => ({
            record,
            target: targets[at] ?? ""
          })))
          const put = yield* levels.upsert(counted.map(({ level: { options: _, sku: __, ...record } }, at) => ({
            record,
            target: targets[priced.length + at] ?? ""
          })))
          const parts = [
            ...priced.map(({ index }, at) => ({ index, of: "prices" as const, outcome: set.results[at] })),
            ...counted.map(({ index }, at) => ({ index, of: "stock" as const, outcome: put.results[at] }))
          ]
          const unchanged: ImportResult = { _tag: "unchanged" }
          const byProduct = new Map<number, Array<{ of: "prices" | "stock"; outcome: ImportResult }>>()
          for (const { index, of, outcome } of parts) {
            byProduct.set(index, [...byProduct.get(index) ?? [], { of, outcome: outcome ?? unchanged }])
          }
          const result: BatchResult = {
            results: made.results.map((outcome, index) => together(outcome, byProduct.get(index) ?? [])),
            afterCommit: Effect.all([made.afterCommit, set.afterCommit, put.afterCommit], { discard: true })
          }
          return result
        }
      )

      return { apply }
    })
  )
}
