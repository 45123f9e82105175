import { Context, Effect, Layer } from "effect"
import { GroupFiles } from "../catalog/import-export/GroupFiles.ts"
import { BrandRecord, CategoryRecord } from "../catalog/import-export/GroupRecords.ts"
import { sellableKey, Sellables } from "../catalog/Sellables.ts"
import { CustomerBatches } from "../customers/CustomerBatches.ts"
import { CustomerRecord } from "../customers/CustomerRecord.ts"
import { StockBatches } from "../inventory/StockBatches.ts"
import { StockRecord } from "../inventory/StockRecord.ts"
import { OrderBatches } from "../orders/import-export/OrderBatches.ts"
import { OrderRecord } from "../orders/import-export/OrderRecord.ts"
import { PriceRecord } from "../pricing/PriceRecord.ts"
import { strictly } from "../text/Issues.ts"
import type { Work } from "./BatchRepo.ts"
import { ExternalProducts, readProduct } from "./ExternalProducts.ts"
import { FiledProduct } from "./FiledProduct.ts"
import { FiledProducts } from "./FiledProducts.ts"
import type { Import } from "./Import.ts"
import { type ImportedKind, isExternal } from "./Kind.ts"
import { PlacedPrices } from "./PlacedPrices.ts"
import { workOf } from "./RowWork.ts"

/** What names a price, for people. */
const priceKey = (price: PriceRecord): string => {
  const { customerGroup, customerGroupId, currency, maxQuantity, minQuantity, validFrom, validUntil } = price
  const bounds = [
    customerGroup ?? customerGroupId,
    minQuantity,
    maxQuantity,
    validFrom?.toISOString(),
    validUntil?.toISOString()
  ]
  const named = bounds.some((bound) => bound !== undefined && bound !== null) ? ` ${JSON.stringify(bounds)}` : ""
  return `${sellableKey(price)} ${currency}${named}`
}

const stockKey = (stock: StockRecord): string => `${sellableKey(stock)} ${stock.warehouse ?? ""}`.trimEnd()

/** How the rows of each kind of import are worked on. */
export class ImportKinds extends Context.Service<ImportKinds, {
  readonly workFor: (of: Pick<Import, "kind" | "format">) => Work
}>()("stoa/domain/import-export/ImportKinds") {
  static readonly layer = Layer.effect(
    ImportKinds,
    Effect.gen(function*() {
      const catalog = yield* FiledProducts
      const groups = yield* GroupFiles
      const customers = yield* CustomerBatches
      const prices = yield* PlacedPrices
      const sellables = yield* Sellables
      const levels = yield* StockBatches
      const orders = yield* OrderBatches

      const putStock = Effect.fnUntraced(function*(records: ReadonlyArray<StockRecord>, { warehouse }: Import) {
        const targets = yield* sellables.find(records)
        return yield* levels.apply(records.map((record, index) => ({
          record: { ...record, warehouse: record.warehouse ?? warehouse },
          target: targets[index] ?? ""
        })))
      })

      const works: { readonly [K in ImportedKind]: Work } = {
        catalog: workOf({ read: strictly(FiledProduct), keyOf: ({ slug }) => slug, apply: catalog.apply }),
        categories: workOf({ read: strictly(CategoryRecord), keyOf: ({ slug }) => slug, apply: groups.putCategories }),
        brands: workOf({ read: strictly(BrandRecord), keyOf: ({ slug }) => slug, apply: groups.putBrands }),
        prices: workOf({ read: strictly(PriceRecord), keyOf: priceKey, apply: prices.apply }),
        stock: workOf({ read: strictly(StockRecord), keyOf: stockKey, apply: putStock }),
        customers: workOf({
          read: strictly(CustomerRecord),
          keyOf: ({ email }) => email.toLowerCase(),
          apply: customers.apply
        }),
        orders: workOf({
          read: strictly(OrderRecord),
          keyOf: ({ orderNumber }) => orderNumber,
          apply: orders.apply
        })
      }
      const foreign = workOf({
        read: readProduct,
        keyOf: ({ product }) => product.slug,
        apply: (yield* ExternalProducts).apply
      })
      return { workFor: ({ format, kind }) => isExternal(format) ? foreign : works[kind] }
    })
  )
}
