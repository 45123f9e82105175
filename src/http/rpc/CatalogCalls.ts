import { Effect } from "effect"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { type EntitySort, sortOf } from "../../domain/catalog/EntityQuery.ts"
import { includesOf } from "../../domain/catalog/Expansion.ts"
import { CatalogRpc } from "./CatalogRpc.ts"
import { askedPage } from "./RpcLists.ts"
import { allPages } from "./RpcPages.ts"

const oldestFirst: EntitySort = { field: "createdAt", ascending: true }

/** Answers to the calls that `CatalogRpc.ts` declares. */
export const catalogCalls = CatalogRpc.toLayer(Effect.gen(function*() {
  const catalog = yield* Catalog
  const reads = yield* CatalogReads
  return CatalogRpc.of({
    "catalog.list": ({ include, limit, page, sort, ...filters }) =>
      Effect.flatMap(
        sortOf(sort),
        (order) => reads.list({ ...filters, ...askedPage({ page, limit }), sort: order, include: includesOf(include) })
      ),
    "catalog.stream": ({ include, ...filters }) =>
      allPages((page) => reads.list({ ...filters, ...page, sort: oldestFirst, include: includesOf(include) })),
    "catalog.read": ({ idOrSlug, include }) => reads.get(idOrSlug, includesOf(include)),
    "catalog.create": (entity) => catalog.create(entity),
    "catalog.update": ({ change, id }) => catalog.update(id, change),
    "catalog.remove": ({ id }) => catalog.remove(id),
    "catalog.publish": ({ id }) => catalog.publish(id),
    "catalog.archive": ({ id }) => catalog.archive(id),
    "catalog.discontinue": ({ id }) => catalog.discontinue(id),
    "catalog.readAttributes": ({ id, locale }) => reads.attributes(id, locale),
    "catalog.setAttributes": ({ change, id, locale }) => catalog.setAttributes(id, locale, change)
  })
}))
