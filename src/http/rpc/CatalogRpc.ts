import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Attributes, AttributesChange } from "../../domain/catalog/Attributes.ts"
import { CatalogEntity, EntityChange, NewEntity } from "../../domain/catalog/Entity.ts"
import { EntityView } from "../../domain/catalog/Expansion.ts"
import { Locale } from "../../domain/catalog/FieldText.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { FreeText } from "../../domain/text/Storable.ts"
import { CatalogGroup } from "../catalog/CatalogApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { conflict, forbidden, invalid, notFound } from "./RpcErrors.ts"
import { pageFields, pageOfRecords } from "./RpcLists.ts"
import { likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(CatalogGroup)

const include = Schema.optional(FreeText)
const filters = {
  type: Schema.optional(FreeText),
  status: Schema.optional(FreeText),
  category: Schema.optional(FreeText),
  brand: Schema.optional(FreeText),
  include
}
const changing = Schema.Union([notFound, conflict, invalid])

const status = <const Name extends "publish" | "archive" | "discontinue">(name: Name) =>
  Rpc.make(name, { payload: { id: Uuid }, success: CatalogEntity, error: changing }).annotateMerge(like(name))

/** Entities of the catalog and their words, as the routes under `/api/catalog/entities` have them. */
export const CatalogRpc = RpcGroup.make(
  Rpc.make("list", {
    payload: { ...pageFields, ...filters, sort: Schema.optional(FreeText) },
    success: pageOfRecords(EntityView),
    error: invalid
  }).annotateMerge(like("list")),
  // Oldest first, so that what is added meanwhile comes at the end and moves nothing.
  Rpc.make("stream", { payload: filters, success: EntityView, error: invalid, stream: true })
    .annotateMerge(like("list")),
  Rpc.make("read", {
    payload: { idOrSlug: FreeText, include },
    success: EntityView,
    error: Schema.Union([notFound, invalid])
  }).annotateMerge(like("read")),
  Rpc.make("create", {
    payload: NewEntity,
    success: CatalogEntity,
    error: Schema.Union([forbidden, notFound, conflict, invalid])
  })
    .annotateMerge(like("create")),
  Rpc.make("update", { payload: { id: Uuid, change: EntityChange }, success: CatalogEntity, error: changing })
    .annotateMerge(like("update")),
  Rpc.make("remove", { payload: { id: Uuid }, error: changing }).annotateMerge(like("remove")),
  status("publish"),
  status("archive"),
  status("discontinue"),
  Rpc.make("readAttributes", { payload: { id: Uuid, locale: Locale }, success: Attributes, error: notFound })
    .annotateMerge(like("readAttributes")),
  Rpc.make("setAttributes", {
    payload: { id: Uuid, locale: Locale, change: AttributesChange },
    error: Schema.Union([forbidden, notFound, invalid])
  }).annotateMerge(like("setAttributes"))
).prefix("catalog.").middleware(RpcAccess)
