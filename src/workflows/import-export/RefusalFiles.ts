import { Context, Effect, Layer, Option, Stream } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import type { Forbidden, NotFound, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { guardText } from "../../domain/import-export/CsvCell.ts"
import type { RefusedRow } from "../../domain/import-export/Import.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { RefusalRepo } from "../../domain/import-export/RefusalRepo.ts"
import { csvText, type ExportFile } from "./ExportFiles.ts"

const pageSize = 500

const header = ["row", "line", "key", "reason"]

const lineOf = ({ issues, key, line, row }: RefusedRow): ReadonlyArray<string> => [
  String(row),
  String(line),
  guardText(key ?? ""),
  guardText(issues.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("; "))
]

/** Reports of imports as files. */
export class RefusalFiles extends Context.Service<RefusalFiles, {
  /** The records of an import that were refused, as CSV. 404; 403 for a kind that is not the caller's. */
  readonly write: (importId: string) => Effect.Effect<ExportFile, NotFound | Unauthorized | Forbidden, CurrentActor>
}>()("stoa/workflows/import-export/RefusalFiles") {
  static readonly layer = Layer.effect(
    RefusalFiles,
    Effect.gen(function*() {
      const imports = yield* Imports
      const repo = yield* RefusalRepo

      const pages = (importId: string) =>
        Stream.paginate(
          0,
          Effect.fnUntraced(function*(after: number) {
            const rows = yield* repo.after(importId, after, pageSize)
            const next = rows.length < pageSize ? Option.none() : Option.fromNullishOr(rows.at(-1)?.row)
            return [[csvText(rows.map(lineOf))], next] as const
          })
        )

      const write = Effect.fn("RefusalFiles.write")(function*(importId: string) {
        const actor = yield* CurrentActor
        yield* imports.get(importId)
        const text = Stream.concat(Stream.make(csvText([header])), pages(importId))
        const file: ExportFile = {
          name: `refused-${importId}.csv`,
          contentType: "text/csv; charset=utf-8",
          text: Stream.provideService(text, CurrentActor, actor)
        }
        return file
      })

      return { write }
    })
  )
}
