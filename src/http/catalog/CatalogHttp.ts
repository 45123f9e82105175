import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { sortOf } from "../../domain/catalog/EntityQuery.ts"
import { includesOf } from "../../domain/catalog/Expansion.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CatalogGroup } from "./CatalogApi.ts"

/** Handlers of the routes that `CatalogApi.ts` declares. */
export const catalogHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CatalogGroup),
  "catalog",
  Effect.fnUntraced(function*(handlers) {
    const catalog = yield* Catalog
    const reads = yield* CatalogReads
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.flatMap(
          sortOf(query.sort),
          (sort) =>
            reads.list({
              ...query,
              ...pageOf(query),
              sort,
              descendants: query.descendants === "true",
              include: includesOf(query.include)
            })
        ),
      read: ({ params, query }) => reads.get(params.id, includesOf(query.include), query.locale),
      create: ({ payload }) => catalog.create(payload),
      update: ({ params, payload }) => catalog.update(params.id, payload),
      remove: ({ params }) => Effect.as(catalog.remove(params.id), deleted),
      publish: ({ params }) => catalog.publish(params.id),
      archive: ({ params }) => catalog.archive(params.id),
      discontinue: ({ params }) => catalog.discontinue(params.id),
      setAttributes: ({ params, payload }) =>
        Effect.as(catalog.setAttributes(params.id, params.locale, payload), { updated: true } as const),
      readAttributes: ({ params, query }) =>
        reads.attributes(params.id, params.locale, {
          fallback: query.fallback === "true",
          approvedOnly: query.status === "approved"
        })
    })
  })
)
