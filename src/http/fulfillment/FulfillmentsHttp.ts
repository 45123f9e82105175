import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { Shipments } from "../../domain/fulfillment/Shipments.ts"
import { DownloadsGroup, FulfillmentsGroup } from "./FulfillmentsApi.ts"

export const fulfillmentsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FulfillmentsGroup),
  "fulfillments",
  Effect.fnUntraced(function*(handlers) {
    const shipments = yield* Shipments
    return handlers.handleAll({
      create: ({ params, payload }) => shipments.create(params.id, payload),
      change: ({ params, payload }) => shipments.change(params.id, params.fulfillmentId, payload)
    })
  })
)

/** A cached redirection would not be counted. */
const headers = { "cache-control": "no-store" }

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
