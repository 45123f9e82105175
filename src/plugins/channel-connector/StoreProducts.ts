import { DateTime, Effect, Schema } from "effect"
import {
  categorySlugs,
  CurrentActor,
  type EntityId,
  type RowOf,
  systemActor,
  type TakenProduct,
  ValidationFailed,
  type VariantId
} from "stoa/plugin"
import { mappingOf } from "./CatalogMapping.ts"
import { type MappedRow, mapThings } from "./ChannelMapRepo.ts"
import { Channels } from "./ChannelOptions.ts"
import type { ChannelProduct } from "./ChannelRecords.ts"
import { withoutOwned } from "./FieldOwnership.ts"
import { enqueueProducts } from "./PushCatalog.ts"
import { admitsProduct, ruledPrice } from "./StoreRules.ts"
import type { RunReport } from "./StoreRuns.ts"
import { type CatalogCall, settleStock, type StoreLevel } from "./StoreStock.ts"
import { entityMap, type Store } from "./StoreTables.ts"

/** Acts as the store in the change log, so that its changes can be recognized. */
export const asChannel = <A, E, R>({ organizationId }: CatalogCall, storeId: string, work: Effect.Effect<A, E, R>) =>
  Effect.provideService(work, CurrentActor, systemActor(organizationId, `channel:${storeId}`))

const isStatus = Schema.is(Schema.Literals(["active", "draft", "archived", "discontinued"]))

/** Whether a product takes part in what the store sells here. */
export const takesPart = (store: Store, { draft }: ChannelProduct): boolean => {
  const status = draft.product["status"]
  return admitsProduct(store, { status: isStatus(status) ? status : "draft", categories: categorySlugs(draft) })
}

/** The import writes no stock: what the store has taken off for our orders is still on hand. */
const withoutStock = ({ draft }: ChannelProduct) => ({
  ...draft,
  sold: draft.sold.map((line) => ({ ...line, stock: {} }))
})

/** A product, and what became of it. */
export interface Pair {
  readonly product: ChannelProduct
  readonly taken: TakenProduct
}

const rowsOf = ({ product, taken }: Pair): ReadonlyArray<MappedRow> => {
  const { entityId, result, variantIds } = taken
  if (entityId === null) return []
  const isLinked = result === "linked"
  const { draft: { sold }, externalId, unitIds } = product
  const units = unitIds.flatMap((unitId, at): ReadonlyArray<MappedRow> => {
    const variantId = variantIds[at] ?? null
    // A variant that is none here has nothing to be mapped to.
    return variantId === null && sold[at]?.isVariant === true
      ? []
      : [{ kind: "variant", externalId: unitId, entityId, variantId, isLinked }]
  })
  return [{ kind: "entity", externalId, entityId, variantId: null, isLinked }, ...units]
}

const levelsOf = ({ product, taken: { entityId, result, variantIds } }: Pair): ReadonlyArray<StoreLevel> =>
  entityId === null || result === "linked" ? [] : product.draft.sold.flatMap(({ isVariant, stock }, at) => {
    const onHand = stock["onHand"]
    const variantId: VariantId | null = variantIds[at] ?? null
    return typeof onHand !== "number" || (isVariant && variantId === null)
      ? []
      : [{ entityId, variantId, available: onHand }]
  })

const reportOf = (pairs: ReadonlyArray<Pair>, known: ReadonlyMap<string, unknown>): Partial<RunReport> => {
  const count = (...results: ReadonlyArray<TakenProduct["result"]>) =>
    pairs.filter(({ taken }) => results.includes(taken.result)).length
  const notes = (of: "issues" | "warnings") =>
    pairs.flatMap(({ taken: { externalId, [of]: found } }) =>
      found.length === 0 ? [] : [{ externalId, message: ValidationFailed.issues(found).error.message }]
    )
  return {
    imported: count("created"),
    converged: count("updated"),
    linked: pairs.filter(({ taken }) => taken.result === "linked" && !known.has(taken.externalId)).length,
    skipped: notes("issues"),
    warnings: notes("warnings")
  }
}

/** Products without the fields that are written to the store, and the entities of which the store has changed such fields. */
const holdOwned = Effect.fnUntraced(
  function*(store: Store, products: ReadonlyArray<ChannelProduct>, rows: ReadonlyArray<RowOf<typeof entityMap>>) {
    if (!store.catalogWriteEnabled) return { products, changed: [] }
    const mapping = yield* mappingOf(store)
    const changed: Array<EntityId> = []
    const kept = products.map((product) => {
      const row = rows.find(({ externalId }) => externalId === product.externalId)
      if (row === undefined) return product
      const one = withoutOwned(product, mapping, row.agreed)
      if (one.isChanged) changed.push(row.entityId)
      return one.product
    })
    return { products: kept, changed }
  }
)

interface ProductOptions {
  readonly currency: string
  readonly dryRun?: boolean
}

/**
 * Writes products of a store in one transaction with `also`: entities, map and stock. Those that do not take part are left out;
 * those that are refused are reported and stop nothing.
 */
export const writeProducts = Effect.fn("StoreProducts.write")(function*<E = never, R = never>(
  call: CatalogCall,
  store: Store,
  sent: ReadonlyArray<ChannelProduct>,
  { currency, dryRun = false }: ProductOptions,
  also: (report: Partial<RunReport>) => Effect.Effect<unknown, E, R> = () => Effect.void
) {
  const { db, services } = call
  const { settings: { linkBySku } } = yield* Channels
  const products = [...new Map(sent.map((one) => [one.externalId, one])).values()].filter((one) =>
    takesPart(store, one)
  )
  const rows = products.length === 0 ? [] : yield* db.table(entityMap).list(
    { storeId: store.id, kind: "entity", externalId: { in: products.map(({ externalId }) => externalId) } }
  )
  const known = new Map(rows.map(({ entityId, externalId }) => [externalId, entityId]))
  const held = yield* holdOwned(store, products, rows)
  const seenAt = yield* DateTime.nowAsDate
  const pairsOf = (all: ReadonlyArray<TakenProduct>): ReadonlyArray<Pair> =>
    products.flatMap((product, at) => {
      const taken = all[at]
      return taken === undefined ? [] : [{ product, taken }]
    })
  const written = services.imports.products(
    held.products.map((product) => ({
      externalId: product.externalId,
      slug: product.slug,
      entityId: known.get(product.externalId),
      draft: withoutStock(product)
    })),
    {
      source: store.id,
      currency,
      linkBySku,
      priced: (amount) => ruledPrice(store.priceRule, amount),
      pictures: true,
      dryRun
    },
    (all) =>
      Effect.gen(function*() {
        const pairs = pairsOf(all)
        const refused = rows.filter(({ externalId }) =>
          pairs.some(({ taken }) => taken.externalId === externalId && taken.entityId === null)
        )
        const things = [...pairs.flatMap(rowsOf), ...refused]
        if (things.length > 0) yield* db.use(mapThings)(store.id, seenAt, things)
        const inventoryUpdated = yield* settleStock(call, store, pairs.flatMap(levelsOf))
        if (held.changed.length > 0) yield* enqueueProducts(call, store.id, held.changed)
        yield* also({ ...reportOf(pairs, known), inventoryUpdated })
      })
  )
  const pairs = pairsOf(yield* asChannel(call, store.id, written))
  return { pairs, report: reportOf(pairs, known) }
})

/** Archives products that are gone at the store; linked ones are ours, and stay. Call it in a transaction. */
export const archiveProducts = Effect.fn("StoreProducts.archive")(
  function*(call: CatalogCall, storeId: string, externalIds: ReadonlyArray<string>) {
    const { db, services } = call
    if (externalIds.length === 0) return 0
    const where = { storeId, kind: "entity" as const, externalId: { in: externalIds }, goneAt: null }
    const rows = yield* db.table(entityMap).list(where, { order: ["entityId"] })
    const owned = rows.filter(({ isLinked }) => !isLinked)
    for (const { entityId } of owned) {
      // One that was deleted here is gone on both sides.
      yield* Effect.ignore(services.catalog.archive(entityId))
    }
    const goneAt = yield* DateTime.nowAsDate
    yield* db.table(entityMap).updateMany({ storeId, entityId: { in: rows.map((one) => one.entityId) } }, { goneAt })
    return owned.length
  },
  (work, call, storeId) => Effect.catch(asChannel(call, storeId, work), Effect.die)
)
