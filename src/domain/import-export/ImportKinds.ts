import { Context, Effect, Layer, Result } from "effect"
import { sellableKey } from "../catalog/Sellables.ts"
import type { Issue } from "../platform/errors/ApiErrors.ts"
import { emailKey } from "../platform/text/Email.ts"
import { strictly } from "../platform/text/Issues.ts"
import type { RowResult, StagedRow, Work, Worked } from "./BatchRepo.ts"
import { brandImport, BrandRecord, categoryImport, CategoryRecord } from "./catalog/GroupImport.ts"
import { productImport } from "./catalog/ProductImport.ts"
import { ProductRecord } from "./catalog/ProductRecord.ts"
import { customerImport, CustomerRecord } from "./CustomerImport.ts"
import { externalImport, type ExternalProduct, readProduct } from "./external/ExternalProducts.ts"
import { type Import, isExternal, type Kind } from "./Import.ts"
import { orderImport } from "./orders/OrderImport.ts"
import { OrderRecord } from "./orders/OrderRecord.ts"
import { priceImport, PriceRecord } from "./PriceImport.ts"
import { stockImport, StockRecord } from "./StockImport.ts"
import { type BatchContext, refused, type Upsert } from "./Upsert.ts"

/**
 * Upserts the valid records of one kind. The batch ends before a repeated key, because the last record in a file
 * counts.
 */
const workOf = <A>(
  read: (record: unknown, of: BatchContext) => Effect.Effect<A, ReadonlyArray<Issue>>,
  keyOf: (record: A) => string,
  upsert: Upsert<A>
): Work =>
  Effect.fnUntraced(function*(rows: ReadonlyArray<StagedRow>, of: BatchContext) {
    const taken: Array<{ readonly at: StagedRow; readonly key: string; readonly record: A }> = []
    const keys = new Set<string>()
    const results: Array<RowResult> = []
    for (const at of rows) {
      const found = at.problem === null
        ? yield* Effect.result(read(at.record, of))
        : refused("", at.problem, "unreadable")
      if (Result.isFailure(found)) {
        results.push({ ...at, key: null, result: { _tag: "refused", issues: found.failure } })
        continue
      }
      const key = keyOf(found.success)
      if (keys.has(key)) break
      keys.add(key)
      taken.push({ at, key, record: found.success })
    }
    const done = yield* upsert(taken.map(({ record }) => record), of)
    for (const [index, { at, key }] of taken.entries()) {
      results.push({ ...at, key, result: done.results[index] ?? { _tag: "unchanged" } })
    }
    const worked: Worked = { results: results.toSorted((a, b) => a.row - b.row), afterCommit: done.afterCommit }
    return worked
  })

const priceKey = (price: PriceRecord): string => {
  const { customerGroup, customerGroupId, currency, maxQuantity, minQuantity, validFrom, validUntil } = price
  const times = [validFrom?.toISOString(), validUntil?.toISOString()]
  const bounds = [customerGroup ?? customerGroupId, minQuantity, maxQuantity, ...times]
  const named = bounds.some((bound) => bound !== undefined && bound !== null) ? ` ${JSON.stringify(bounds)}` : ""
  return `${sellableKey(price)} ${currency}${named}`
}

const stockKey = (stock: StockRecord): string => `${sellableKey(stock)} ${stock.warehouse ?? ""}`.trimEnd()

export class ImportKinds extends Context.Service<ImportKinds, {
  /** Products of other shops, with their prices and stock. */
  readonly external: Upsert<ExternalProduct>
  readonly workFor: (of: Pick<Import, "kind" | "format">) => Work
}>()("stoa/domain/import-export/ImportKinds") {
  static readonly layer = Layer.effect(
    ImportKinds,
    Effect.gen(function*() {
      const products = yield* productImport
      const prices = yield* priceImport
      const stock = yield* stockImport
      const external = yield* externalImport(products, prices, stock)
      const works: { readonly [K in Kind]: Work } = {
        catalog: workOf(strictly(ProductRecord), ({ slug }) => slug, products),
        categories: workOf(strictly(CategoryRecord), ({ slug }) => slug, yield* categoryImport),
        brands: workOf(strictly(BrandRecord), ({ slug }) => slug, yield* brandImport),
        prices: workOf(strictly(PriceRecord), priceKey, prices),
        stock: workOf(strictly(StockRecord), stockKey, stock),
        customers: workOf(strictly(CustomerRecord), ({ email }) => emailKey(email), yield* customerImport),
        orders: workOf(strictly(OrderRecord), ({ orderNumber }) => orderNumber, yield* orderImport)
      }
      return {
        external,
        workFor: ({ format, kind }) =>
          isExternal(format) ? workOf(readProduct(format), ({ product }) => product.slug, external) : works[kind]
      }
    })
  )
}
