import { stringify } from "csv-stringify/sync"
import { Context, Effect, Layer, Stream } from "effect"
import { CurrentActor, requireAnyOf } from "../../domain/access/Actor.ts"
import type { Forbidden, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { ExportRepo } from "../../domain/import-export/ExportRepo.ts"
import { type ExportFormat, type Kind, neededToExport } from "../../domain/import-export/Kind.ts"
import { ExportPages } from "./ExportPages.ts"

/** A file that is written while it is read. */
export interface ExportFile {
  readonly name: string
  readonly contentType: string
  readonly text: Stream.Stream<string>
}

/** Lines of a CSV file, each ended by LF; text with line breaks, quotes, separators or edge spaces is quoted. */
export const csvText = (lines: ReadonlyArray<ReadonlyArray<string>>): string =>
  lines.length === 0 ? "" : stringify([...lines], { quoted_match: /[\r\n]|^\s|\s$/ })

const jsonText = (records: ReadonlyArray<object>): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("")

const contentTypes = { csv: "text/csv; charset=utf-8", jsonl: "application/x-ndjson" }

/** Writes files of everything of a kind (docs/import-export.md). */
export class ExportFiles extends Context.Service<ExportFiles, {
  /** 403 for a kind that is not the caller's. A page at a time is in memory. */
  readonly write: (
    kind: Kind,
    format: ExportFormat
  ) => Effect.Effect<ExportFile, Unauthorized | Forbidden, CurrentActor>
}>()("stoa/workflows/import-export/ExportFiles") {
  static readonly layer = Layer.effect(
    ExportFiles,
    Effect.gen(function*() {
      const pages = yield* ExportPages
      const repo = yield* ExportRepo

      const write = Effect.fn("ExportFiles.write")(function*(kind: Kind, format: ExportFormat) {
        const actor = yield* CurrentActor
        yield* Effect.forEach(neededToExport(kind), (any) => requireAnyOf(actor, any), { discard: true })
        yield* repo.note(kind, format)
        const { lines, records } = pages.of(kind)
        const text = format === "csv" ? Stream.map(lines, csvText) : Stream.map(records, jsonText)
        const file: ExportFile = {
          name: `${kind}.${format}`,
          contentType: contentTypes[format],
          text: Stream.provideService(text, CurrentActor, actor)
        }
        return file
      })

      return { write }
    })
  )
}
