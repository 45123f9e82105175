import { stringify } from "csv-stringify/sync"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { CurrentActor, requireAnyOf } from "../../domain/access/Actor.ts"
import { guardText } from "../../domain/import-export/CsvCell.ts"
import { csvColumns } from "../../domain/import-export/CsvColumns.ts"
import { csvHeader, csvLines } from "../../domain/import-export/CsvTable.ts"
import { type CatalogOrder, ExportRepo, exportStart } from "../../domain/import-export/ExportRepo.ts"
import type { RequiredReference } from "../../domain/import-export/ExportRepo.ts"
import type { RefusedRow } from "../../domain/import-export/Import.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { type ExportFormat, type Kind, neededToExport } from "../../domain/import-export/Kind.ts"

/** A file that is written while it is read. */
export interface ExportFile {
  readonly name: string
  readonly contentType: string
  readonly text: Stream.Stream<string>
}

const pageSize = 250

type Lines = ReadonlyArray<ReadonlyArray<string>>

/** Lines of a CSV file, each ended by LF; text with line breaks, quotes, separators or edge spaces is quoted. */
const csvText = (lines: Lines): string =>
  lines.length === 0 ? "" : stringify([...lines], { quoted_match: /[\r\n]|^\s|\s$/ })

const jsonText = (records: ReadonlyArray<object>): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("")

const contentTypes = { csv: "text/csv; charset=utf-8", jsonl: "application/x-ndjson" }

/** A refused record as a line of the report. */
const refusalLine = ({ issues, key, line, row }: RefusedRow): ReadonlyArray<string> => [
  String(row),
  String(line),
  guardText(key ?? ""),
  guardText(issues.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("; "))
]

/** Ranks of types above those that they must reference; types with circular references cannot be ordered. */
const ranksOf = (required: ReadonlyArray<RequiredReference>): CatalogOrder["ranks"] => {
  const targets = Map.groupBy(required, ({ type }) => type)
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
    Stream.paginate(
      exportStart(kind),
      (after) =>
        Effect.map(
          repo.page(kind, after, pageSize, order),
          ({ last, records }) => [[records], Option.fromUndefinedOr(last)] as const
        )
    )

  /** Entities that reference later ones appear a second time at the end, with those references. */
  const catalog = Stream.unwrap(Effect.map(repo.references, ({ exist, required }) => {
    const ranks = ranksOf(required)
    const inOrder = [...new Set([0, ...Object.values(ranks)])].toSorted((one, other) => one - other)
    const phases = exist ? [...inOrder, undefined] : inOrder
    return Stream.flatMap(Stream.fromIterable(phases), (rank) => pages("catalog", { rank, ranks }))
  }))

  const lines = (kind: Kind, records: ReturnType<typeof pages>) =>
    Stream.unwrap(Effect.map(
      kind === "catalog" ? repo.locales : Effect.succeed([]),
      (locales) =>
        Stream.concat(
          Stream.make<[Lines]>([csvHeader(csvColumns[kind], locales)]),
          Stream.map(records, (page) => page.flatMap((record) => csvLines(csvColumns[kind], record, locales)))
        )
    ))

  const fileOf = Effect.fnUntraced(
    function*(name: string, format: ExportFormat, text: Stream.Stream<string, never, CurrentActor>) {
      const whole = Stream.provideService(text, CurrentActor, yield* CurrentActor)
      const file: ExportFile = { name: `${name}.${format}`, contentType: contentTypes[format], text: whole }
      return file
    }
  )

  /** 403 for a kind that is not the caller's. */
  const write = Effect.fn("ExportFiles.write")(function*(kind: Kind, format: ExportFormat) {
    const actor = yield* CurrentActor
    yield* Effect.forEach(neededToExport(kind), (any) => requireAnyOf(actor, any), { discard: true })
    yield* repo.note(kind, format)
    const records = kind === "catalog" ? catalog : pages(kind)
    const text = format === "csv" ? Stream.map(lines(kind, records), csvText) : Stream.map(records, jsonText)
    return yield* fileOf(kind, format, text)
  })

  /** The records of an import that were refused, as CSV. 404; 403 for a kind that is not the caller's. */
  const report = Effect.fn("ExportFiles.report")(function*(importId: string) {
    yield* imports.get(importId)
    const refusals = Stream.paginate(
      0,
      (after) =>
        Effect.map(importRepo.refusalsAfter(importId, after, pageSize), (rows) => {
          const next = rows.length < pageSize ? Option.none() : Option.fromNullishOr(rows.at(-1)?.row)
          return [[csvText(rows.map(refusalLine))], next] as const
        })
    )
    const header = csvText([["row", "line", "key", "reason"]])
    return yield* fileOf(`refused-${importId}`, "csv", Stream.concat(Stream.make(header), refusals))
  })

  return { write, report }
})

/** Writes files of everything of a kind, and reports of imports (docs/import-export.md). A page is in memory at a time. */
export class ExportFiles extends Context.Service<ExportFiles>()("stoa/workflows/import-export/ExportFiles", { make }) {
  static readonly layer = Layer.effect(ExportFiles, make)
}
