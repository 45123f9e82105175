import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { DownloadsGroup } from "./DownloadsApi.ts"

/** A redirection that is kept somewhere between would not be counted. */
const headers = { "cache-control": "no-store" }

/** Handlers of the routes that `DownloadsApi.ts` declares. */
export const downloadsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(DownloadsGroup),
  "downloads",
  Effect.fnUntraced(function*(handlers) {
    const downloads = yield* Downloads
    return handlers.handleAll({
      follow: ({ params, query }) =>
        Effect.map(downloads.follow(params.id, query), (file) => HttpServerResponse.redirect(file, { headers }))
    })
  })
)
