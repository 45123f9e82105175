import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { MediaFiles } from "../../domain/media/MediaFiles.ts"
import { fileAnswer } from "./FileAnswer.ts"
import { FilesGroup } from "./FilesApi.ts"

/** Handlers of the routes that `FilesApi.ts` declares. */
export const filesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FilesGroup),
  "mediaFiles",
  Effect.fnUntraced(function*(handlers) {
    const files = yield* MediaFiles
    return handlers.handleAll({
      file: Effect.fnUntraced(function*({ params, query }) {
        const file = yield* files.show(`${params.year}/${params.name}`, query)
        return yield* fileAnswer(yield* HttpServerRequest.HttpServerRequest, file, files.read)
      })
    })
  })
)
