import { stringify } from "csv-stringify/sync"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { csvColumns, csvHeader, csvLines, guardText } from "../../domain/import-export/CsvTable.ts"
import { type CatalogOrder, ExportRepo, exportStart, type Reference } from "../../domain/import-export/ExportRepo.ts"
import { type ExportFormat, type Kind, reasonOf } from "../../domain/import-export/Import.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { ImportId } from "../../domain/platform/ids/Id.ts"

export interface ExportFile {
  readonly name: string
  readonly contentType: string
  readonly text: Stream.Stream<string>
}

const pageSize = 250

type Lines = ReadonlyArray<ReadonlyArray<string>>

const csvText = (lines: Lines): string =>
  lines.length === 0 ? "" : stringify([...lines], { quoted_match: /[\r\n]|^\s|\s$/ })

const jsonText = (records: ReadonlyArray<object>): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("")

const contentTypes = { csv: "text/csv; charset=utf-8", jsonl: "application/x-ndjson" }

const ranksOf = (references: ReadonlyArray<Reference>): CatalogOrder["ranks"] => {
  const targets = Map.groupBy(references.filter(({ isRequired }) => isRequired), ({ type }) => type)
  const rankOf = (type: string | null, above: ReadonlyArray<string>): number => {
    const own = type === null || above.includes(type) ? undefined : targets.get(type)
    if (type === null || own === undefined) return 0
    return 1 + Math.max(...own.map(({ target }) => rankOf(target, [...above, type])))
  }
  return Object.fromEntries([...targets.keys()].map((type) => [type, rankOf(type, [])]))
}

const make = Effect.gen(function*() {
  const repo = yield* ExportRepo
  const imports = yield* Imports
  const importRepo = yield* ImportRepo

  const pages = (kind: Kind, order?: CatalogOrder) =>
    Stream.paginate(exportStart(kind), (after) =>
      Effect.map(
        repo.page(kind, after, pageSize, order),
        ({ last, records }) => [[records], Option.fromUndefinedOr(last)] as const
      ))

  /** Entities that reference later ones appear a second time at the end, with those references. */
  const catalog = Stream.unwrap(Effect.map(repo.references, (references) => {
    const ranks = ranksOf(references)
    const inOrder = [...new Set([0, ...Object.values(ranks)])].toSorted((one, other) => one - other)
    const phases = references.length > 0 ? [...inOrder, undefined] : inOrder
    return Stream.flatMap(Stream.fromIterable(phases), (rank) => pages("catalog", { rank, ranks }))
  }))

  const lines = (kind: Kind, records: ReturnType<typeof pages>) =>
    Stream.unwrap(Effect.map(kind === "catalog" ? repo.locales : Effect.succeed([]), (locales) =>
      Stream.concat(
        Stream.make<[Lines]>([csvHeader(csvColumns[kind], locales)]),
        Stream.map(records, (page) => page.flatMap((record) => csvLines(csvColumns[kind], record, locales)))
      )))

  const fileOf = (name: string, format: ExportFormat, text: Stream.Stream<string, never, CurrentActor>) =>
    Effect.map(CurrentActor, (actor): ExportFile => ({
      name: `${name}.${format}`,
      contentType: contentTypes[format],
      text: Stream.provideService(text, CurrentActor, actor)
    }))

  /** 403 for a kind that the caller may not export. */
  const write = Effect.fn("ExportFiles.write")(function*(kind: Kind, format: ExportFormat) {
    yield* imports.admitExport(kind)
    yield* repo.note(kind, format)
    const records = kind === "catalog" ? catalog : pages(kind)
    const text = format === "csv" ? Stream.map(lines(kind, records), csvText) : Stream.map(records, jsonText)
    return yield* fileOf(kind, format, text)
  })

  /** Writes refused records as CSV. 404; 403 for a kind that the caller may not import. */
  const report = Effect.fn("ExportFiles.report")(function*(importId: ImportId) {
    yield* imports.get(importId)
    const refusals = Stream.paginate(
      0,
      (after) =>
        Effect.map(importRepo.refusalsAfter(importId, after, pageSize), (rows) => {
          const lines = rows.map((one) => [
            String(one.row),
            String(one.line),
            guardText(one.key ?? ""),
            guardText(reasonOf(one))
          ])
          const next = rows.length < pageSize ? Option.none() : Option.fromNullishOr(rows.at(-1)?.row)
          return [[csvText(lines)], next] as const
        })
    )
    const header = csvText([["row", "line", "key", "reason"]])
    return yield* fileOf(`refused-${importId}`, "csv", Stream.concat(Stream.make(header), refusals))
  })

  return { write, report }
})

/**
 * Writes files of everything of a kind, and reports of imports (docs/import-export.md). One page is in memory at a
 * time.
 */
export class ExportFiles extends Context.Service<ExportFiles>()("stoa/workflows/import-export/ExportFiles", { make }) {
  static readonly layer = Layer.effect(ExportFiles, make)
}
