import { Effect, Schema, Struct } from "effect"
import { about, apiError, fieldsOf, listOf, type PluginCall } from "stoa/plugin"
import { backfillTask, reconcileTask } from "./CatalogTasks.ts"
import type { ChannelCatalog } from "./ChannelAdapter.ts"
import { manage, read, routes } from "./ChannelOptions.ts"
import { reconciledOf, ReconcileStatus } from "./Reconciled.ts"
import { catalogPageSize, withLevels } from "./StorePages.ts"
import { type Pair, writeProducts } from "./StoreProducts.ts"
import { beginRun, RunReport, runs, type RunTask } from "./StoreRuns.ts"
import { NotConnected } from "./Stores.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { stores } from "./StoreTables.ts"

export class StoreUnavailable extends apiError(
  "StoreUnavailable",
  { status: 502, code: "STORE_UNAVAILABLE" },
  (message: string) => `The store could not be read: ${message}`
) {}

export const Enqueued = Schema.Struct({ enqueued: Schema.Literal(true), storeId: Schema.String })

const BackfillReport = Schema.Struct({
  entitiesTouched: Schema.Int.pipe(about("Products that would be created or changed.")),
  attributesCreated: Schema.Int.pipe(about("Texts of new products.")),
  mediaImported: Schema.Int.pipe(about("Pictures of new products.")),
  variantsGivenOptionValues: Schema.Int.pipe(about("New variants with options.")),
  cursor: Schema.NullOr(Schema.String).pipe(about("Place of the page after this one; null after the last.")),
  complete: Schema.Boolean.pipe(about("True on the last page.")),
  skipped: RunReport.fields.skipped,
  warnings: RunReport.fields.warnings
})

/** Begins a run, or joins it, with the job that does it. 409 for a store that is disconnected. */
const begun = Effect.fnUntraced(
  function*({ db, jobs }: PluginCall, storeId: string, task: RunTask, slug: string, restart = false) {
    const { id, status } = yield* db.table(stores).lock(storeId)
    if (status === "disconnected") return yield* new NotConnected()
    yield* beginRun(db, id, task, restart)
    yield* jobs.enqueue(slug, { storeId: id })
    return { enqueued: true as const, storeId: id }
  },
  (work, { db }) => db.transaction(work)
)

const sizeOf = (value: unknown): number => Array.isArray(value) ? value.length : 0

const touched = (pairs: ReadonlyArray<Pair>) => {
  const changed = pairs.filter(({ taken: { result } }) => result === "created" || result === "updated")
  const created = changed.filter(({ taken }) => taken.result === "created").map(({ product }) => product.draft)
  const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, one) => total + one, 0)
  return {
    entitiesTouched: changed.length,
    attributesCreated: sum(created.map(({ product }) => sizeOf(product["attributes"]))),
    mediaImported: sum(created.map(({ product }) => sizeOf(Reflect.get(Object(product["metadata"]), "images")))),
    variantsGivenOptionValues: sum(
      created.map(({ sold }) => sold.filter(({ options }) => Object.keys(options).length > 0).length)
    )
  }
}

/** The next page with products: a store that collects them first answers an empty one. */
const nextPage = (catalog: ChannelCatalog, cursor: string | null): ReturnType<ChannelCatalog["page"]> =>
  Effect.flatMap(catalog.page(cursor, catalogPageSize), (page) =>
    page.items.length > 0 || page.nextCursor === null
      ? Effect.succeed(page)
      : nextPage(catalog, page.nextCursor))

/** What the next page would write. */
const rehearsed = Effect.fnUntraced(function*(call: PluginCall, storeId: string, restart: boolean) {
  const run = yield* call.db.table(runs).first({ storeId, task: "import" })
  const cursor = run?.phases[0] === "catalog" && !restart ? run.cursor : null
  const { use } = yield* StoreSessions
  return yield* use(call.db, storeId, (session) =>
    Effect.gen(function*() {
      const { channel: { catalog }, store } = session
      if (catalog === undefined) {
        return { ...touched([]), cursor: null, complete: true, skipped: [], warnings: [] }
      }
      const currency = yield* catalog.currency
      const { items, nextCursor } = yield* nextPage(catalog, cursor)
      const products = yield* withLevels(session, items)
      const { pairs, report: { skipped = [], warnings = [] } } = yield* Effect.catch(
        writeProducts(call, store, products, { currency, dryRun: true }),
        Effect.die
      )
      return { ...touched(pairs), cursor: nextCursor, complete: nextCursor === null, skipped, warnings }
    })).pipe(
      Effect.catchTag(
        ["ChannelUnavailable", "ChannelRefused", "CredentialsRefused"],
        ({ message }) => Effect.fail(new StoreUnavailable(message))
      )
    )
})

/** Routes of imports and reconciliations (contract, plugins §13.3). */
export const catalogRoutes = [
  routes.post("/stores/:id/backfill", {
    summary: "Import the catalog of a store",
    description:
      "Goes on where an import is; `restart` begins at the first page. `dryRun` writes nothing and answers with what the "
      + "next page would write. 404 without the store, 409 when it is disconnected, 502 while it cannot be read.",
    permission: manage,
    input: Schema.Struct({
      dryRun: Schema.optional(Schema.Boolean.pipe(about("Answers with what the next page would write."))),
      restart: Schema.optional(Schema.Boolean.pipe(about("Begins at the first page.")))
    }),
    success: Schema.Union([Enqueued, BackfillReport])
  }).handle((call) => {
    const { db, input: { dryRun = false, restart = false }, params: { id } } = call
    if (!dryRun) return begun(call, id, "import", backfillTask, restart)
    return Effect.gen(function*() {
      const { status } = yield* db.table(stores).get(id)
      if (status === "disconnected") return yield* new NotConnected()
      return yield* rehearsed(call, id, restart)
    })
  }),
  routes.post("/stores/:id/reconcile", {
    summary: "Reconcile a store now",
    description: "A job compares products, stock and webhooks. 404 without the store, 409 when it is disconnected.",
    permission: manage,
    success: Enqueued
  }).handle((call) => begun(call, call.params.id, "reconcile", reconcileTask)),
  routes.get("/stores/:id/reconcile-status", {
    summary: "Get what the last reconciliation of a store found",
    description: "404 without the store.",
    permission: read,
    success: ReconcileStatus
  }).handle(({ db, params: { id } }) =>
    Effect.gen(function*() {
      const store = yield* db.table(stores).get(id)
      return yield* reconciledOf(db, store.id)
    })
  ),
  listOf(routes, "/runs", runs, {
    summary: "List imports, stock synchronizations and reconciliations",
    permission: read,
    filters: ["storeId", "task"],
    view: {
      success: Schema.Struct(Struct.omit(fieldsOf(runs), ["token"])),
      show: (rows) => Effect.succeed(rows.map(Struct.omit(["token"])))
    }
  })
]
