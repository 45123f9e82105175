import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { ExportFiles } from "../../workflows/import-export/ExportFiles.ts"
import { ExportsGroup } from "./ExportsApi.ts"
import { fileAnswer } from "./FileAnswer.ts"

/** Handlers of the routes that `ExportsApi.ts` declares. */
export const exportsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ExportsGroup),
  "exports",
  Effect.fnUntraced(function*(handlers) {
    const files = yield* ExportFiles
    return handlers.handleAll({
      download: ({ params, query }) => Effect.map(files.write(params.kind, query.format ?? "csv"), fileAnswer)
    })
  })
)
