import { Clock, Context, Effect, Layer } from "effect"
import { beforeHook, type EntityId, type PluginCall, ValidationFailed, type VariantId } from "stoa/plugin"
import { Channels } from "./ChannelOptions.ts"
import { asChannel } from "./StoreProducts.ts"
import { offeredUnits } from "./StoreRules.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { entityMap, stores } from "./StoreTables.ts"

const keptMs = 5_000
const mostKept = 10_000

/** Units by ids of a store; those that it does not have are missing. */
type Levels = ReadonlyMap<string, number | null>

/** What stores have now, for five seconds. */
export class LiveStock extends Context.Service<LiveStock, {
  /** Undefined when the store cannot be reached, or not in time. */
  readonly read: (
    call: PluginCall,
    storeId: string,
    externalIds: ReadonlyArray<string>
  ) => Effect.Effect<Levels | undefined>
}>()("stoa/plugins/channel-connector/LiveStock") {
  static readonly layer = Layer.effect(
    LiveStock,
    Effect.gen(function*() {
      const { settings: { inventoryTimeoutMs } } = yield* Channels
      const { use } = yield* StoreSessions
      const kept = new Map<string, { readonly until: number; readonly available: number | null }>()

      const read = Effect.fnUntraced(function*(call: PluginCall, storeId: string, externalIds: ReadonlyArray<string>) {
        const now = yield* Clock.currentTimeMillis
        const keyOf = (externalId: string) => `${storeId} ${externalId}`
        const known = externalIds.filter((externalId) => (kept.get(keyOf(externalId))?.until ?? 0) > now)
        const asked = externalIds.filter((externalId) => !known.includes(externalId))
        const found = asked.length === 0
          ? []
          : yield* use(call.db, storeId, ({ channel }) => channel.stock?.read(asked) ?? Effect.succeed([]))
        if (kept.size + found.length > mostKept) kept.clear()
        const levels = new Map(known.map((externalId) => [externalId, kept.get(keyOf(externalId))?.available ?? null]))
        for (const { available, externalId } of found) {
          kept.set(keyOf(externalId), { until: now + keptMs, available })
          levels.set(externalId, available)
        }
        return levels
      })

      return {
        read: (call, storeId, externalIds) =>
          asChannel(call, storeId, read(call, storeId, externalIds)).pipe(
            Effect.timeout(inventoryTimeoutMs),
            Effect.tapCause((cause) => Effect.logWarning(`The stock of store ${storeId} could not be read.`, cause)),
            Effect.option,
            Effect.map((levels) => levels._tag === "Some" ? levels.value : undefined)
          )
      }
    })
  )
}

interface BoughtLine {
  readonly entityId: EntityId
  readonly variantId?: VariantId | null | undefined
  readonly quantity: number
  readonly title: string | null
}

/** Lines of one thing of a store, by their place in the checkout. */
interface Wanted {
  readonly storeId: string
  readonly externalId: string | undefined
  readonly title: string
  readonly places: Array<number>
  units: number
}

/** What a checkout wants of stores, with the lines of one thing summed. */
const wantedOf = Effect.fnUntraced(function*({ db }: PluginCall, lines: ReadonlyArray<BoughtLine>) {
  const rows = yield* db.table(entityMap).list(
    { entityId: { in: lines.map(({ entityId }) => entityId) }, isLinked: false }
  )
  const wanted = new Map<string, Wanted>()
  lines.forEach(({ entityId, quantity, title, variantId = null }, place) => {
    const owner = rows.find((row) => row.kind === "entity" && row.entityId === entityId)
    if (owner === undefined) return
    const { storeId } = owner
    const unit = rows.find((row) =>
      row.kind === "variant" && row.storeId === storeId && row.entityId === entityId && row.variantId === variantId &&
      row.goneAt === null
    )
    const key = variantId ?? entityId
    const one = wanted.get(key) ??
      { storeId, externalId: unit?.externalId, title: title ?? "This item", places: [], units: 0 }
    one.places.push(place)
    one.units += quantity
    wanted.set(key, one)
  })
  return [...wanted.values()]
})

const short = ({ title }: Wanted, left: number) => ({
  code: "insufficient_stock",
  message: left === 0 ? `“${title}” is sold out.` : `Only ${left} of “${title}” are left.`
})

const unknown = ({ title }: Wanted) => ({
  code: "out_of_service",
  message: `The stock of “${title}” cannot be checked at the moment. Try again in a moment.`
})

/**
 * Refuses a checkout whose goods a store no longer has, before money and outside of transactions (contract-tills-channels, amendment
 * 55). All stores are asked at once.
 */
const checkLive = Effect.fn("LiveStock.check")(function*(call: PluginCall, lines: ReadonlyArray<BoughtLine>) {
  const wanted = yield* wantedOf(call, lines)
  if (wanted.length === 0) return
  const byStore = Map.groupBy(wanted, ({ storeId }) => storeId)
  const rows = yield* call.db.table(stores).list({ id: { in: [...byStore.keys()] } })
  const live = yield* LiveStock
  const levels = new Map(
    yield* Effect.forEach(byStore, ([storeId, things]) => {
      const ids = things.flatMap(({ externalId }) => externalId ?? [])
      return Effect.map(live.read(call, storeId, ids), (found) => [storeId, found] as const)
    }, { concurrency: "unbounded" })
  )
  const issues = wanted.flatMap((one) => {
    const [store, found] = [rows.find(({ id }) => id === one.storeId), levels.get(one.storeId)]
    const refusal = store === undefined || found === undefined ? unknown(one) : lackOf(one, found, store)
    return refusal === undefined ? [] : one.places.map((place) => ({ path: `lineItems.${place}`, ...refusal }))
  })
  if (issues.length > 0) return yield* ValidationFailed.issues(issues)
})

/** Undefined when the store has enough, or does not count. */
const lackOf = (one: Wanted, levels: Levels, store: Parameters<typeof offeredUnits>[0]) => {
  const available = one.externalId === undefined ? undefined : levels.get(one.externalId)
  if (available === null) return undefined
  const left = available === undefined ? 0 : offeredUnits(store, available) ?? 0
  return left >= one.units ? undefined : short(one, left)
}

export const liveStockHook = beforeHook(
  "checkout.beforePayment",
  ({ context, data }) => checkLive(context, data.lineItems),
  { entitiesIn: entityMap }
)
