import { Effect, Schema } from "effect"
import { about, conflict, EntityId, invalid, listOf, moveOf, type PluginCall, Text } from "stoa/plugin"
import { mappingWarnings, mergedMapping, refusedMapping } from "./CatalogMapping.ts"
import { Enqueued, StoreUnavailable } from "./CatalogRoutes.ts"
import type { ChannelAdapter } from "./ChannelAdapter.ts"
import { Channels, manage, read, routes } from "./ChannelOptions.ts"
import { MappedField, RemoteField } from "./ChannelRecords.ts"
import { resolveConflict } from "./Conflicts.ts"
import { enqueueProducts } from "./PushCatalog.ts"
import { type PlannedProduct, planProducts } from "./PushPlan.ts"
import { catalogConflict, catalogConflicts } from "./PushTables.ts"
import { NotConnected } from "./Stores.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { entityMap, type Store, stores } from "./StoreTables.ts"

class NothingSent extends invalid("NothingSent", "enabled", "enabled or overrides must be given.") {}
class TakesNoFields extends invalid(
  "TakesNoFields",
  "enabled",
  (id: string) => `enabled must be false: ${id} takes no fields of products.`
) {}
class WritesAreOff extends conflict("CatalogWritesOff", "Catalog writes of the store are off: enable them first.") {}

const Enabled = Schema.Boolean.pipe(about("True when fields of our products are written to the store."))

const CatalogWrite = Schema.Struct({
  enabled: Enabled,
  overrides: Schema.Array(MappedField).pipe(about("Rows of the store.")),
  merged: Schema.Array(MappedField).pipe(about("Rows that hold, the most specific first.")),
  warnings: Schema.Array(Schema.String).pipe(about("Sentences about rows that are doubtful."))
})

const Overrides = Schema.Union([
  Schema.Array(MappedField).check(Schema.isMaxLength(200)),
  Schema.Record(Text, RemoteField).check(Schema.isMaxProperties(200))
]).pipe(about("Rows in place of those of the store, or an object of them by their `fieldPath`; at most 200."))

const shown = (store: Store, adapter: ChannelAdapter): typeof CatalogWrite.Type => {
  const { catalogFieldMapping: overrides, catalogWriteEnabled: enabled } = store
  const merged = mergedMapping(store, adapter)
  return { enabled, overrides, merged, warnings: mappingWarnings(overrides, merged) }
}

/** Rows, or an object of them by their paths. */
const rowsOf = (sent: typeof Overrides.Type): ReadonlyArray<MappedField> => {
  if (Array.isArray(sent)) return sent
  return Object.entries(sent).map(([fieldPath, remote]) => ({ fieldPath, ...remote }))
}

const settings = { permission: manage, success: CatalogWrite } as const

const writeRoutes = [
  routes.get("/stores/:id/catalog-write", {
    summary: "Get which fields of products are written to a store",
    description: "`overrides` are those of the store, `merged` all that hold. 404 without the store.",
    ...settings
  }).handle(({ db, params: { id } }) =>
    Effect.gen(function*() {
      const store = yield* db.table(stores).get(id)
      return shown(store, yield* (yield* Channels).adapterOf(store.provider))
    })
  ),
  routes.put("/stores/:id/catalog-write", {
    summary: "Set which fields of products are written to a store",
    description:
      "Changes what it names; overrides are replaced. Writes nothing to the store before a product changes or is pushed. 404 "
      + "without the store, 422 for fields that cannot be written.",
    ...settings,
    input: Schema.Struct({ enabled: Schema.optional(Enabled), overrides: Schema.optional(Overrides) })
  }).handle(({ db, input: { enabled, overrides: sent }, params: { id } }) =>
    db.transaction(Effect.gen(function*() {
      const before = yield* db.table(stores).lock(id)
      const adapter = yield* (yield* Channels).adapterOf(before.provider)
      if (enabled === undefined && sent === undefined) {
        return yield* new NothingSent()
      }
      if (enabled === true && adapter.pushes === undefined) {
        return yield* new TakesNoFields(adapter.id)
      }
      const overrides = sent === undefined ? before.catalogFieldMapping : rowsOf(sent)
      const refused = sent === undefined ? undefined : refusedMapping(overrides, adapter)
      if (refused !== undefined) return yield* refused
      const isPushed = enabled ?? before.catalogWriteEnabled
      const store = yield* db.table(stores).update(id, {
        catalogWriteEnabled: isPushed,
        catalogFieldMapping: overrides
      })
      if (isPushed !== before.catalogWriteEnabled) {
        yield* db.table(entityMap).updateMany({ storeId: store.id, kind: "entity" }, { isPushed })
      }
      return shown(store, adapter)
    }))
  )
]

const Chosen = Schema.Struct({
  entityIds: Schema.optional(
    Schema.Array(EntityId).check(Schema.isBetweenLength(1, 1_000)).pipe(
      about("Entities; without them all of the store.")
    )
  )
})

const Diff = Schema.Struct({
  fieldPath: MappedField.fields.fieldPath,
  ...RemoteField.fields,
  before: Schema.NullOr(Schema.String).pipe(about("Value at the store; null without one.")),
  beforeStatus: Schema.Literals(["value", "missing", "unavailable"])
    .pipe(about("State of the field at the store; `unavailable` when it has no such product.")),
  after: Schema.NullOr(Schema.String).pipe(about("Value here; null without one.")),
  owner: Schema.Literals(["platform", "shared"]).pipe(about("Side that changed it; `shared` when both have.")),
  willWrite: Schema.Boolean.pipe(about("True when a push would write it.")),
  reason: Schema.optional(Schema.String)
})

const Left = Schema.Struct({ entityId: EntityId, reason: Schema.String })

const Preview = Schema.Struct({
  items: Schema.Array(Schema.Struct({
    externalId: Text,
    diffs: Schema.Array(Diff).pipe(about("Fields that differ."))
  })),
  skipped: Schema.Array(Left).pipe(about("Entities that the store does not sell.")),
  warnings: Schema.Array(Schema.String).pipe(about("Sentences about what is left out."))
})

const reasons = {
  equal: {},
  write: {},
  absent: { reason: "It has no value here." },
  kept: { reason: "The store has its form of the value." },
  conflict: { reason: "Both sides have changed it: resolve the conflict." }
} as const

const diffsOf = ({ differences, fields }: PlannedProduct): ReadonlyArray<typeof Diff.Type> =>
  differences === undefined
    ? fields.map(({ value, ...field }) => ({
      ...field,
      before: null,
      beforeStatus: "unavailable",
      after: value,
      owner: "platform",
      willWrite: false,
      reason: "The store has no such product."
    }))
    : differences.filter(({ step }) => step !== "equal").map(({ before, step, value, ...field }) => ({
      ...field,
      before,
      beforeStatus: before === null ? "missing" : "value",
      after: value,
      owner: step === "conflict" ? "shared" : "platform",
      willWrite: step === "write",
      ...reasons[step]
    }))

/** Compares a batch of products with the store, and writes nothing. */
const previewed = Effect.fnUntraced(function*(call: PluginCall, storeId: string, sent: typeof Chosen.Type) {
  const { db } = call
  const { status } = yield* db.table(stores).get(storeId)
  if (status === "disconnected") return yield* new NotConnected()
  const { use } = yield* StoreSessions
  const { adapterOf } = yield* Channels
  return yield* use(db, storeId, ({ channel: { pushCatalog: push }, store }) =>
    Effect.gen(function*() {
      const adapter = yield* Effect.catch(adapterOf(store.provider), Effect.die)
      if (push === undefined) {
        return { items: [], skipped: [], warnings: [`${adapter.id} takes no fields of products.`] }
      }
      const batch = adapter.pushes?.batch ?? 1
      const wanted = sent.entityIds ?? (yield* db.table(entityMap).list(
        { storeId, kind: "entity", goneAt: null },
        { order: ["id"], limit: batch + 1 }
      )).map(({ entityId }) => entityId)
      const ids = [...new Set(wanted)].slice(0, batch)
      // As the job that pushes sees them.
      const planned = yield* call.asStore(planProducts(call, store, push, ids))
      return {
        items: planned.map((one) => ({ externalId: one.map.externalId, diffs: diffsOf(one) })),
        skipped: ids.filter((id) => !planned.some(({ map }) => map.entityId === id)).map((entityId) => ({
          entityId,
          reason: "The store does not sell it."
        })),
        warnings: [
          ...store.catalogWriteEnabled ? [] : [new WritesAreOff().error.message],
          ...wanted.length > batch ? [`Only ${batch} products are shown: name others by entityIds.`] : []
        ]
      }
    })).pipe(
      Effect.catchTag(
        ["ChannelUnavailable", "ChannelRefused", "CredentialsRefused"],
        ({ message }) => Effect.fail(new StoreUnavailable(message))
      )
    )
})

const pushRoutes = [
  routes.post("/stores/:id/push-catalog", {
    summary: "Send fields of products to a store now",
    description:
      "A job does it, for all products of the store or those that are named. 404 without the store, 409 when it is disconnected or "
      + "its catalog writes are off.",
    permission: manage,
    input: Chosen,
    success: Enqueued
  }).handle(({ db, input: { entityIds }, jobs, params: { id } }) =>
    db.transaction(Effect.gen(function*() {
      const { catalogWriteEnabled, id: storeId, status } = yield* db.table(stores).lock(id)
      if (status === "disconnected") return yield* new NotConnected()
      if (!catalogWriteEnabled) return yield* new WritesAreOff()
      yield* enqueueProducts({ db, jobs }, storeId, entityIds)
      return { enqueued: true as const, storeId }
    }))
  ),
  routes.post("/stores/:id/push-catalog/preview", {
    summary: "Preview what a push of products would write",
    description:
      "Reads the store and writes nothing. 404 without the store, 409 when it is disconnected, 502 while it cannot be read.",
    permission: manage,
    input: Chosen,
    success: Preview
  }).handle((call) => previewed(call, call.params.id, call.input))
]

/** Fields of our products at stores (contract, plugins §13.3). */
export const catalogWriteRoutes = [
  ...writeRoutes,
  ...pushRoutes,
  listOf(routes, "/conflicts", catalogConflicts, {
    summary: "List fields that both a store and we have changed",
    description: "Without a state those that are open.",
    permission: read,
    filters: ["state", "storeId"],
    answer: ({ db, page, where }) => db.table(catalogConflicts).page({ state: "open", ...where }, page)
  }),
  moveOf(routes, "/conflicts", catalogConflict, "resolve", {
    summary: "Resolve a conflict about a field",
    description:
      "`platform` writes ours to the store, `store` writes that of the store here. 404 without it, or when it is resolved.",
    allowed: manage,
    input: Schema.Struct({ choose: Schema.Literals(["platform", "store"]).pipe(about("Side whose value holds.")) }),
    answer: resolveConflict
  })
]
