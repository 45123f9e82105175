import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Media } from "../../domain/media/Media.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { MediaGroup } from "./MediaApi.ts"

/** Where a file lies is decided anew for each request: it may be unpublished, and a signature is over soon. */
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
