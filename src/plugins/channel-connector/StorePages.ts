import { Array as Arr, Effect } from "effect"
import type { CurrentActor, InvalidTransition } from "stoa/plugin"
import type { ChannelError } from "./ChannelErrors.ts"
import { stockOf } from "./ChannelMapRepo.ts"
import { callsAtOnce, type Channels } from "./ChannelOptions.ts"
import type { ChannelProduct, StockLevel } from "./ChannelRecords.ts"
import { followChangedOrders, followOpenOrders } from "./FollowOrder.ts"
import { linkedPageSize, linkedUnits, settleLinked } from "./LinkedStock.ts"
import { registerWebhooks } from "./Registration.ts"
import { archiveProducts, asChannel, takesPart, writeProducts } from "./StoreProducts.ts"
import type { Phase, Run, RunReport } from "./StoreRuns.ts"
import type { StoreSession } from "./StoreSessions.ts"
import { type CatalogCall, settleStock, warehouseOf } from "./StoreStock.ts"
import { entityMap, store as storeMachine } from "./StoreTables.ts"

/** WooCommerce gives no more products at once. */
export const catalogPageSize = 100
/** Products that are asked for one by one. */
const askedAtOnce = 20
const firstId = "00000000-0000-0000-0000-000000000000"

/** A page of a run. `next` stores how far the run is, in the transaction of the page. */
export interface Page {
  readonly call: CatalogCall
  readonly session: StoreSession
  readonly run: Run
  readonly next: (
    cursor: string | null,
    done?: Partial<RunReport>
  ) => Effect.Effect<unknown, InvalidTransition, CurrentActor>
}

type Step = (page: Page) => Effect.Effect<unknown, ChannelError | InvalidTransition, CurrentActor | Channels>

/** Errors of the core that a page cannot cause. */
export const orDefect = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, Extract<E, ChannelError | InvalidTransition>, R> =>
  Effect.catch(work, (error) => isExpected(error) ? Effect.fail(error) : Effect.die(error))

const expected: ReadonlySet<unknown> = new Set([
  "ChannelUnavailable",
  "ChannelRefused",
  "CredentialsRefused",
  "InvalidTransition"
])
const isExpected = <E>(error: E): error is Extract<E, ChannelError | InvalidTransition> =>
  expected.has(Reflect.get(Object(error), "_tag"))

/** Levels by the ids of a store; none where it shows no stock. */
const readLevels = ({ channel: { stock } }: StoreSession, externalIds: ReadonlyArray<string>) =>
  stock === undefined
    ? Effect.succeed<ReadonlyMap<string, StockLevel>>(new Map())
    : Effect.map(
      Effect.forEach(Arr.chunksOf(externalIds, catalogPageSize), stock.read, { concurrency: callsAtOnce }),
      (parts) => new Map(parts.flat().map((level) => [level.externalId, level]))
    )

/** Products with the stock that the store has, where it shows it: the one truth of imports, hints and synchronizations. */
export const withLevels = Effect.fnUntraced(function*(session: StoreSession, products: ReadonlyArray<ChannelProduct>) {
  if (session.channel.stock === undefined) return products
  const levels = yield* readLevels(session, products.flatMap(({ unitIds }) => unitIds))
  return products.map((product): ChannelProduct => ({
    ...product,
    draft: {
      ...product.draft,
      sold: product.draft.sold.map((line, at) => {
        const level = levels.get(product.unitIds[at] ?? "")
        if (level === undefined) return { ...line, stock: {} }
        const { available } = level
        return {
          ...line,
          variant: { ...line.variant, manageInventory: available !== null },
          stock: available === null ? {} : { onHand: available }
        }
      })
    }
  }))
})

/** A record that the store refuses is none that others have to wait for. */
export const readEach = <A>(
  externalIds: ReadonlyArray<string>,
  read: (externalId: string) => Effect.Effect<A, ChannelError>
) =>
  Effect.forEach(externalIds, (externalId) =>
    read(externalId).pipe(
      Effect.map((found) => ({ externalId, found })),
      Effect.catchTag("ChannelRefused", ({ message }) => Effect.succeed({ externalId, failed: message }))
    ), { concurrency: callsAtOnce })

/** Registers webhooks that were lost or turned off; a store that refuses them still has its products reconciled. */
const webhooks: Step = ({ call: { db }, next, session }) =>
  Effect.gen(function*() {
    const { id, status } = session.store
    const registered = yield* Effect.result(registerWebhooks(session))
    if (registered._tag === "Failure") {
      const { _tag, message } = registered.failure
      return yield* _tag === "ChannelRefused"
        ? next(null, { warnings: [{ externalId: "", message }] })
        : Effect.fail(registered.failure)
    }
    if (status === "error") yield* Effect.ignore(db.use(storeMachine).move("recover", id, { lastError: null }))
    return yield* next(null, { webhooksRegistered: registered.success.length })
  })

const catalog: Step = ({ call, next, run, session }) =>
  Effect.gen(function*() {
    const { channel, store } = session
    if (channel.catalog === undefined) return yield* next(null)
    const currency = yield* channel.catalog.currency
    const { items, nextCursor } = yield* channel.catalog.page(run.cursor, catalogPageSize)
    const products = yield* withLevels(session, items)
    return yield* orDefect(writeProducts(call, store, products, { currency }, (report) => next(nextCursor, report)))
  })

/** Archives what the pages did not show, after the store was asked for each. */
const gone: Step = ({ call, next, run, session }) =>
  Effect.gen(function*() {
    const { channel, store } = session
    if (channel.catalog === undefined) return yield* next(null)
    const { currency, product } = channel.catalog
    const missing = yield* call.db.table(entityMap).list({
      storeId: store.id,
      kind: "entity",
      goneAt: null,
      id: { gt: run.cursor ?? firstId },
      or: [{ seenAt: null }, { seenAt: { lt: run.startedAt } }]
    }, { order: ["id"], limit: askedAtOnce })
    if (missing.length === 0) return yield* next(null)
    const read = yield* readEach(missing.map(({ externalId }) => externalId), product)
    const isThere = (one: ChannelProduct | undefined) => one !== undefined && takesPart(store, one)
    const there = read.flatMap((one) => "found" in one && one.found && isThere(one.found) ? [one.found] : [])
    const away = read.flatMap((one) => "found" in one && !isThere(one.found) ? [one.externalId] : [])
    const skipped = read.flatMap((one) => "failed" in one ? [{ externalId: one.externalId, message: one.failed }] : [])
    const cursor = missing.length < askedAtOnce ? null : missing.at(-1)?.id ?? null
    const products = yield* withLevels(session, there)
    return yield* orDefect(
      writeProducts(call, store, products, { currency: yield* currency }, (report) =>
        Effect.flatMap(
          archiveProducts(call, store.id, away),
          (archived) => next(cursor, { ...report, archived, skipped: [...report.skipped ?? [], ...skipped] })
        ))
    )
  })

/** Levels of things by their ids at the store; things that it does not have are sold out. */
export const syncLevels = Effect.fn("StorePages.syncLevels")(function*<E = never, R = never>(
  call: CatalogCall,
  session: StoreSession,
  externalIds: ReadonlyArray<string>,
  also: (inventoryUpdated: number) => Effect.Effect<unknown, E, R> = () => Effect.void
) {
  const { db } = call
  const { channel, store } = session
  const units = externalIds.length === 0 || channel.stock === undefined ? [] : yield* db.table(entityMap).list({
    storeId: store.id,
    kind: "variant",
    isLinked: false,
    goneAt: null,
    externalId: { in: externalIds }
  }, { order: ["id"] })
  const levels = yield* readLevels(session, units.map(({ externalId }) => externalId))
  const known = units.length === 0 ? [] : yield* db.use(stockOf)(store.id, yield* warehouseOf(call, store), units)
  const switched = units.filter(({ externalId }, at) => {
    const level = levels.get(externalId)
    return level !== undefined && (level.available === null) === known[at]?.isCounted
  })
  if (switched.length > 0 && channel.catalog !== undefined) {
    const { currency, product } = channel.catalog
    const ids = switched.map(({ entityId }) => entityId)
    const rows = yield* db.table(entityMap).list({ storeId: store.id, kind: "entity", entityId: { in: ids } })
    const read = yield* readEach(rows.map(({ externalId }) => externalId), product)
    const products = yield* withLevels(session, read.flatMap((one) => "found" in one ? one.found ?? [] : []))
    yield* writeProducts(call, store, products, { currency: yield* currency })
  }
  const things = units.map(({ entityId, externalId, variantId }) => {
    const level = levels.get(externalId)
    return { entityId, variantId, available: level === undefined ? 0 : level.available }
  })
  return yield* db.transaction(
    Effect.tap(asChannel(call, store.id, settleStock(call, store, things)), (count) => also(count))
  )
}, (work) => orDefect(work))

const stock: Step = ({ call, next, run, session }) =>
  Effect.gen(function*() {
    const units = session.channel.stock === undefined ? [] : yield* call.db.table(entityMap).list({
      storeId: session.store.id,
      kind: "variant",
      isLinked: false,
      goneAt: null,
      id: { gt: run.cursor ?? firstId }
    }, { order: ["id"], limit: catalogPageSize })
    const cursor = units.length < catalogPageSize ? null : units.at(-1)?.id ?? null
    return yield* syncLevels(
      call,
      session,
      units.map(({ externalId }) => externalId),
      (inventoryUpdated) => next(cursor, { inventoryUpdated })
    )
  })

/** Our products that the store sells, too. */
const linked: Step = ({ call, next, run, session }) =>
  orDefect(Effect.gen(function*() {
    const units = yield* linkedUnits(call, session.store.id, run.cursor ?? firstId)
    const inventoryUpdated = yield* settleLinked(call, session, units)
    return yield* next(units.at(linkedPageSize - 1)?.id ?? null, { inventoryUpdated })
  }))

/** Takes over what the store did to its open orders, before the stock that they hold is looked at. */
const orders: Step = ({ call, next, session }) => Effect.andThen(followOpenOrders(call, session), next(null))

/** The same for orders that it changed since the last run. */
const changed: Step = ({ call, next, run, session }) =>
  Effect.flatMap(
    followChangedOrders(call, session, run.seenUntil ?? session.store.connectedAt, run.cursor),
    (cursor) => next(cursor)
  )

export const steps: { readonly [P in Phase]: Step } = {
  webhooks,
  catalog,
  gone,
  orders,
  changed,
  stock,
  linked
}
