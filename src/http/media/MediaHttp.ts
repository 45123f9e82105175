import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Media } from "../../domain/media/Media.ts"
import { MediaFiles } from "../../domain/media/MediaFiles.ts"
import { Uploads } from "../../domain/media/Uploads.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { fileAnswer } from "./FileAnswer.ts"
import { FilesGroup, MediaGroup } from "./MediaApi.ts"
import { ReceivedUpload, UploadsGroup } from "./UploadsApi.ts"

/** Redirects must not be cached: a file may be unpublished, and a signature expires soon. */
const headers = { "cache-control": "no-store" }

/** Handlers of the routes that `MediaApi.ts` declares. */
export const mediaHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MediaGroup),
  "media",
  Effect.fnUntraced(function*(handlers) {
    const media = yield* Media
    return handlers.handleAll({
      list: ({ query }) => media.page(query, pageOf(query)),
      address: ({ params, query }) =>
        Effect.map(
          media.address(params.id, { signed: query.signed === "true", width: query.width }),
          (address) => HttpServerResponse.redirect(address, { headers })
        ),
      record: ({ params }) => media.record(params.id),
      update: ({ params, payload }) => media.update(params.id, payload),
      remove: ({ params }) => Effect.as(media.remove(params.id), deleted),
      attach: ({ payload }) => Effect.as(media.attach(payload), { attached: true } as const),
      detach: ({ payload }) => Effect.as(media.detach(payload), { detached: true } as const)
    })
  })
)

/** Handlers of the routes for the files of media. */
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

/** Handlers of the routes that `UploadsApi.ts` declares. */
export const uploadsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(UploadsGroup),
  "uploads",
  Effect.fnUntraced(function*(handlers) {
    const uploads = yield* Uploads
    return handlers.handleAll({ upload: () => Effect.flatMap(ReceivedUpload, uploads.store) })
  })
)
