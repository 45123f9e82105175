import { Context, Effect, Layer, Option, Stream } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import { CatalogExport, type ExportedRecord } from "../../domain/catalog/import-export/CatalogExport.ts"
import { csvColumns } from "../../domain/import-export/CsvColumns.ts"
import { csvHeader, csvLines, jsonRecord } from "../../domain/import-export/CsvTable.ts"
import { type ExportRecord, ExportRepo, exportStart, type QueriedKind } from "../../domain/import-export/ExportRepo.ts"
import { asRecord } from "../../domain/import-export/FiledProducts.ts"
import type { Kind } from "../../domain/import-export/Kind.ts"
import { MediaBatches } from "../../domain/media/MediaBatches.ts"

/** All records of a kind, page after page, or the lines of a table of them. */
export interface Exported {
  readonly records: Stream.Stream<ReadonlyArray<ExportRecord>, never, CurrentActor>
  readonly lines: Stream.Stream<ReadonlyArray<ReadonlyArray<string>>, never, CurrentActor>
}

const pageSize = 250

/** Reads all records of a kind. */
export class ExportPages extends Context.Service<ExportPages, {
  readonly of: (kind: Kind) => Exported
}>()("stoa/workflows/import-export/ExportPages") {
  static readonly layer = Layer.effect(
    ExportPages,
    Effect.gen(function*() {
      const catalog = yield* CatalogExport
      const repo = yield* ExportRepo
      const media = yield* MediaBatches

      const withMedia = Effect.fnUntraced(function*(page: ReadonlyArray<ExportedRecord>) {
        const shown = Object.groupBy(
          yield* media.attachedTo(page.map(({ id }) => id)),
          ({ entityId }) => entityId
        )
        return page.map(({ id, record }): ExportRecord => ({ ...record, media: (shown[id] ?? []).map(asRecord) }))
      })

      const queried = (kind: QueriedKind): Exported["records"] =>
        Stream.paginate(
          exportStart(kind),
          (after) =>
            Effect.map(repo.page(kind, after, pageSize), ({ last, records }) =>
              [[records.map((record) =>
                jsonRecord(csvColumns[kind], record)
              )], Option.fromUndefinedOr(last)] as const)
        )

      const of = (kind: Kind): Exported => {
        const columns = csvColumns[kind]
        const [records, locales] = kind === "catalog"
          ? [Stream.mapEffect(catalog.pages, withMedia), catalog.locales]
          : [queried(kind), Effect.succeed<ReadonlyArray<string>>([])]
        const lines = Stream.unwrap(Effect.map(locales, (locales) =>
          Stream.concat(
            Stream.make([csvHeader(columns, locales)]),
            Stream.map(records, (page) => page.flatMap((record) => csvLines(columns, record, locales)))
          )))
        return { records, lines }
      }

      return { of }
    })
  )
}
