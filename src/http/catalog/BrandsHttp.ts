import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Brands } from "../../domain/catalog/brands/Brands.ts"
import { pageOrAll } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { BrandsGroup } from "./BrandsApi.ts"
import { linked, unlinked } from "./Links.ts"

/** Handlers of the routes that `BrandsApi.ts` declares. */
export const brandsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(BrandsGroup),
  "brands",
  Effect.fnUntraced(function*(handlers) {
    const brands = yield* Brands
    return handlers.handleAll({
      list: ({ query }) => brands.list(pageOrAll(query)),
      create: ({ payload }) => brands.create(payload),
      update: ({ params, payload }) => brands.update(params.brandId, payload),
      remove: ({ params }) => Effect.as(brands.remove(params.brandId), deleted),
      link: ({ params }) => Effect.as(brands.link(params.id, params.brandId), linked),
      unlink: ({ params }) => Effect.as(brands.unlink(params.id, params.brandId), unlinked)
    })
  })
)
