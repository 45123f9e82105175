import { Context, Effect, Layer } from "effect"
import { GroupImport } from "../catalog/import-export/GroupImport.ts"
import { BrandRecord, CategoryRecord } from "../catalog/import-export/GroupRecords.ts"
import { sellableKey, Sellables } from "../catalog/Sellables.ts"
import { CustomerImport } from "../customers/CustomerImport.ts"
import { CustomerRecord } from "../customers/CustomerRecord.ts"
import { StockImport } from "../inventory/StockImport.ts"
import { StockRecord } from "../inventory/StockRecord.ts"
import { OrderBatches } from "../orders/import-export/OrderBatches.ts"
import { OrderRecord } from "../orders/import-export/OrderRecord.ts"
import { PriceImport } from "../pricing/PriceImport.ts"
import { PriceRecord } from "../pricing/PriceRecord.ts"
import { strictly } from "../text/Issues.ts"
import type { Work } from "./BatchRepo.ts"
import { ExternalProducts, readProduct } from "./ExternalProducts.ts"
import { FiledProduct } from "./FiledProduct.ts"
import { FiledProducts } from "./FiledProducts.ts"
import type { Import } from "./Import.ts"
import { type ImportedKind, isExternal } from "./Kind.ts"
import { workOf } from "./RowWork.ts"

/** The name of a price in reports. */
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

/** How each kind of import is processed. */
export class ImportKinds extends Context.Service<ImportKinds, {
  readonly workFor: (of: Pick<Import, "kind" | "format">) => Work
}>()("stoa/domain/import-export/ImportKinds") {
  static readonly layer = Layer.effect(
    ImportKinds,
    Effect.gen(function*() {
      const catalog = yield* FiledProducts
      const external = yield* ExternalProducts
      const groups = yield* GroupImport
      const customers = yield* CustomerImport
      const prices = yield* PriceImport
      const sellables = yield* Sellables
      const stock = yield* StockImport
      const orders = yield* OrderBatches

      const putPrices = Effect.fnUntraced(function*(records: ReadonlyArray<PriceRecord>) {
        const targets = yield* sellables.find(records)
        const ids = yield* customers.groupsNamed(records.flatMap(({ customerGroup }) => customerGroup ?? []))
        return yield* prices.upsert(records.map((record, index) => {
          const target = targets[index] ?? ""
          if (typeof record.customerGroup !== "string") return { record, target }
          const customerGroupId = ids.get(record.customerGroup)
          return customerGroupId === undefined
            ? { record, target: `There is no customer group called '${record.customerGroup}'.` }
            : { record: { ...record, customerGroupId }, target }
        }))
      })

      const putStock = Effect.fnUntraced(function*(records: ReadonlyArray<StockRecord>, { warehouse }: Import) {
        const targets = yield* sellables.find(records)
        return yield* stock.upsert(records.map((record, index) => ({
          record: { ...record, warehouse: record.warehouse ?? warehouse },
          target: targets[index] ?? ""
        })))
      })

      const works: { readonly [K in ImportedKind]: Work } = {
        catalog: workOf(strictly(FiledProduct), ({ slug }) => slug, catalog.apply),
        categories: workOf(strictly(CategoryRecord), ({ slug }) => slug, groups.categories),
        brands: workOf(strictly(BrandRecord), ({ slug }) => slug, groups.brands),
        prices: workOf(strictly(PriceRecord), priceKey, putPrices),
        stock: workOf(strictly(StockRecord), stockKey, putStock),
        customers: workOf(strictly(CustomerRecord), ({ email }) => email.toLowerCase(), customers.upsert),
        orders: workOf(strictly(OrderRecord), ({ orderNumber }) => orderNumber, orders.apply)
      }
      const externalWork = workOf(readProduct, ({ product }) => product.slug, external.apply)
      return { workFor: ({ format, kind }) => isExternal(format) ? externalWork : works[kind] }
    })
  )
}
