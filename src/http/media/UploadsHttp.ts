import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Uploads } from "../../domain/media/Uploads.ts"
import { ReceivedUpload } from "./Reception.ts"
import { UploadsGroup } from "./UploadsApi.ts"

/** Handlers of the routes that `UploadsApi.ts` declares. */
export const uploadsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(UploadsGroup),
  "uploads",
  Effect.fnUntraced(function*(handlers) {
    const uploads = yield* Uploads
    return handlers.handleAll({ upload: () => Effect.flatMap(ReceivedUpload, uploads.store) })
  })
)
