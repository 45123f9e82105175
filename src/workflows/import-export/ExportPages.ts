import { Context, Effect, Layer, Option, Stream } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import { CatalogExport, type ExportedRecord } from "../../domain/catalog/import-export/CatalogExport.ts"
import { GroupFiles } from "../../domain/catalog/import-export/GroupFiles.ts"
import { catalogHeader, catalogLines } from "../../domain/import-export/CatalogTable.ts"
import type { FiledProduct } from "../../domain/import-export/FiledProduct.ts"
import { asRecord } from "../../domain/import-export/FiledProducts.ts"
import {
  brandColumns,
  categoryColumns,
  customerColumns,
  type FlatColumns,
  flatHeader,
  flatLine,
  flatRecord,
  priceColumns,
  stockColumns
} from "../../domain/import-export/FlatTable.ts"
import type { Kind } from "../../domain/import-export/Kind.ts"
import { orderHeader, orderLines, orderRecord } from "../../domain/import-export/OrderTable.ts"
import { PersonPageRepo } from "../../domain/import-export/PersonPageRepo.ts"
import { SellablePageRepo } from "../../domain/import-export/SellablePageRepo.ts"
import { MediaBatches } from "../../domain/media/MediaBatches.ts"
import { OrderPageRepo } from "../../domain/orders/import-export/OrderPageRepo.ts"

type Records = ReadonlyArray<Readonly<Record<string, unknown>>>
type Lines = ReadonlyArray<ReadonlyArray<string>>

/** Everything of a kind, page after page: its records, or the lines of a table of them. */
export interface Exported {
  readonly records: Stream.Stream<Records, never, CurrentActor>
  readonly lines: Stream.Stream<Lines, never, CurrentActor>
}

const pageSize = 250

interface PageFrom<Cursor> {
  readonly records: Records
  readonly last: Cursor | undefined
}

/** Pages from the first cursor on, until one ends nowhere. */
const pagesFrom = <Cursor>(
  first: Cursor,
  read: (cursor: Cursor, limit: number) => Effect.Effect<PageFrom<Cursor>, never, CurrentActor>
): Exported["records"] =>
  Stream.paginate(
    first,
    (cursor: Cursor) =>
      Effect.map(read(cursor, pageSize), ({ last, records }) => [[records], Option.fromUndefinedOr(last)] as const)
  )

const flat = (columns: FlatColumns, records: Exported["records"]): Exported => ({
  records: Stream.map(records, (page) => page.map((record) => flatRecord(columns, record))),
  lines: Stream.concat(
    Stream.make([flatHeader(columns)]),
    Stream.map(records, (page) => page.map((record) => flatLine(columns, record)))
  )
})

const nobody = "00000000-0000-0000-0000-000000000000"

/** Reads all that a store has of a kind. */
export class ExportPages extends Context.Service<ExportPages, {
  readonly of: (kind: Kind) => Exported
}>()("stoa/workflows/import-export/ExportPages") {
  static readonly layer = Layer.effect(
    ExportPages,
    Effect.gen(function*() {
      const catalog = yield* CatalogExport
      const groups = yield* GroupFiles
      const sellables = yield* SellablePageRepo
      const media = yield* MediaBatches
      const people = yield* PersonPageRepo
      const orders = yield* OrderPageRepo

      const withMedia = Effect.fnUntraced(function*(page: ReadonlyArray<ExportedRecord>) {
        const shown = Object.groupBy(
          yield* media.attachedTo(page.map(({ id }) => id)),
          ({ entityId }) => entityId
        )
        return page.map(({ id, record }): FiledProduct => ({ ...record, media: (shown[id] ?? []).map(asRecord) }))
      })

      const catalogRecords = (): Exported => {
        const records = Stream.mapEffect(catalog.pages, withMedia)
        const lines = Stream.unwrap(Effect.map(catalog.locales, (locales) =>
          Stream.concat(
            Stream.make([catalogHeader(locales)]),
            Stream.map(records, (page) => page.flatMap((record) => catalogLines(record, locales)))
          )))
        return { records, lines }
      }

      const orderRecords = (): Exported => {
        const records = pagesFrom({ placedAt: "-infinity", id: nobody }, orders.after)
        const lines = Stream.map(records, (page) => page.flatMap(orderLines))
        return {
          records: Stream.map(records, (page) => page.map(orderRecord)),
          lines: Stream.concat(Stream.make([orderHeader]), lines)
        }
      }

      const kinds: { readonly [K in Kind]: () => Exported } = {
        catalog: catalogRecords,
        categories: () => flat(categoryColumns, pagesFrom({ depth: -1, slug: "" }, groups.categories)),
        brands: () => flat(brandColumns, pagesFrom("", groups.brands)),
        prices: () => flat(priceColumns, pagesFrom("", sellables.prices)),
        stock: () => flat(stockColumns, pagesFrom("", sellables.stock)),
        customers: () => flat(customerColumns, pagesFrom({ email: "", id: nobody }, people.after)),
        orders: orderRecords
      }
      return { of: (kind) => kinds[kind]() }
    })
  )
}
