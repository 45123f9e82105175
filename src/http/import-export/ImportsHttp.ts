import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Imports } from "../../domain/import-export/Imports.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { ExportFiles } from "../../workflows/import-export/ExportFiles.ts"
import { ImportUploads } from "../../workflows/import-export/ImportUploads.ts"
import { fileAnswer } from "./FileAnswer.ts"
import { ImportsGroup } from "./ImportsApi.ts"
import { sentImport, sentKey } from "./SentImport.ts"

/** Handlers of the routes that `ImportsApi.ts` declares. */
export const importsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ImportsGroup),
  "imports",
  Effect.fnUntraced(function*(handlers) {
    const imports = yield* Imports
    const uploads = yield* ImportUploads
    const { defaultCurrency } = yield* StoreSettings
    const files = yield* ExportFiles
    return handlers.handleAll({
      create: Effect.fnUntraced(function*({ payload, query, request }) {
        const options = yield* sentImport(query, request.headers, defaultCurrency)
        return yield* uploads.receive(options, payload, yield* sentKey(request.headers))
      }),
      list: ({ query }) => imports.list(query, pageOf(query)),
      get: ({ params }) => imports.get(params.id),
      refusals: ({ params, query }) => imports.refusals(params.id, pageOf(query)),
      report: ({ params }) => Effect.map(files.report(params.id), fileAnswer),
      cancel: ({ params }) => imports.cancel(params.id)
    })
  })
)
