import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { defineTask, type EventCall, type PluginTaskCall, rowIn, type RowOf } from "stoa/plugin"
import type { ChannelStock } from "./ChannelAdapter.ts"
import { callsAtOnce, retries } from "./ChannelOptions.ts"
import { availableOf, type KnownLevel, noteLevels, storesOfLinked, unitsToSend } from "./LinkedStockRepo.ts"
import { ofStore } from "./Registration.ts"
import { asChannel } from "./StoreProducts.ts"
import { offeredUnits } from "./StoreRules.ts"
import { type StoreSession, StoreSessions } from "./StoreSessions.ts"
import { type CatalogCall, warehouseOf } from "./StoreStock.ts"
import { entityMap, type Store } from "./StoreTables.ts"

const sendTask = "channel/push-stock"
export const linkedPageSize = 100
const firstId = "00000000-0000-0000-0000-000000000000"
/** Times that a unit is looked at again which the store sold between the look and the write. */
const mostTries = 3

type Unit = RowOf<typeof entityMap>

const known = ({ id, level, sentKey, sentLevel }: KnownLevel): KnownLevel => ({ id, level, sentKey, sentLevel })

/** Makes the writes that are noted, each once: also those of a run that ended without an answer. Gives units as they are then. */
const send = Effect.fnUntraced(function*({ db }: CatalogCall, stock: ChannelStock, units: ReadonlyArray<Unit>) {
  const asked = units.filter(({ sentKey }) => sentKey !== null)
  const answers = yield* Effect.forEach(
    asked,
    ({ externalId, level: expected, sentKey, sentLevel }) =>
      stock.set([{ externalId, expected, available: sentLevel ?? 0 }], sentKey ?? "").pipe(
        Effect.catchTag(
          "ChannelRefused",
          ({ message }) => Effect.as(Effect.logWarning(`The store refuses the stock of ${externalId}: ${message}`), [])
        )
      ),
    { concurrency: callsAtOnce }
  )
  const ended = new Map(asked.map((unit, at) => {
    const level = answers[at]?.[0]?.outcome === "set" ? unit.sentLevel : unit.level
    return [unit.id, { ...unit, level, sentLevel: null, sentKey: null }]
  }))
  if (ended.size > 0) yield* db.use(noteLevels)([...ended.values()].map(known))
  return units.map((unit) => ended.get(unit.id) ?? unit)
})

/** A unit, and how many of it the store has now. */
interface Shown {
  readonly unit: Unit
  readonly there: number
}

/**
 * Posts here what a store sold or restocked of units since both sides agreed, and notes what it is to be set to. The map is locked
 * before the stock, as in imports. A unit that another run has agreed on meanwhile is left out.
 */
const agree = Effect.fnUntraced(
  function*(call: CatalogCall, store: Store, shown: ReadonlyArray<Shown>) {
    const { db, services } = call
    const ids = shown.map(({ unit }) => unit.id)
    const rows = yield* db.table(entityMap).list({ id: { in: ids } }, { order: ["id"], limit: ids.length, lock: true })
    const same = shown.filter(({ unit }) =>
      rows.some(({ id, level, sentKey }) => id === unit.id && level === unit.level && sentKey === null)
    )
    const goods = same.map(({ unit: { entityId, variantId } }) => ({ entityId, variantId }))
    const warehouseId = yield* warehouseOf(call, store)
    yield* services.inventory.lock(goods)
    const ours = yield* db.use(availableOf)(store.warehouseId, goods)
    const changes = same.flatMap(({ there, unit }, at) => {
      const { available = 0, isCounted = false } = ours[at] ?? {}
      const delta = there - (unit.level ?? there)
      const wanted = offeredUnits(store, available + delta) ?? 0
      const isSent = wanted !== there
      if (!isCounted || delta === 0 && !isSent && unit.level === there) return []
      const sent = { sentLevel: isSent ? wanted : null, sentKey: isSent ? randomUUID() : null }
      return [{ delta, unit: { ...unit, level: there, ...sent } }]
    })
    const lines = changes.flatMap(({ delta, unit: { entityId, variantId } }) =>
      delta === 0
        ? []
        : [{
          entityId,
          variantId,
          warehouseId,
          delta,
          type: "adjustment" as const,
          allowNegative: true,
          reason: "channel"
        }]
    )
    if (lines.length > 0) yield* services.inventory.post({ type: "channel-stock", id: randomUUID() }, lines)
    if (changes.length > 0) yield* db.use(noteLevels)(changes.map(({ unit }) => known(unit)))
    return { posted: lines.length, units: changes.map(({ unit }) => unit) }
  },
  (work, call, store) => Effect.catch(asChannel(call, store.id, call.db.transaction(work)), Effect.die)
)

/**
 * Brings our products that a store sells, too, to one stock: both sides sell, so no level is simply right. The map has the level
 * that both agreed on; what the store differs from it is posted here, and then it is set to ours, if it still has what was seen.
 * The first time ours counts. What is to be set is noted with its key before the call, so that a run after a crash learns whether
 * that was made. Units that the store does not count, or whose stock is fixed there, are left alone. Gives how many were posted.
 */
export const settleLinked = Effect.fn("LinkedStock.settle")(
  function*(call: CatalogCall, session: StoreSession, linked: ReadonlyArray<Unit>) {
    const { channel: { stock }, store } = session
    if (stock === undefined) return 0
    let [posted, left] = [0, linked]
    for (let tries = 0; tries < mostTries && left.length > 0; tries++) {
      const units = yield* send(call, stock, left)
      const levels = yield* stock.read(units.map(({ externalId }) => externalId))
      const shown = units.flatMap((unit): ReadonlyArray<Shown> => {
        const { available: there = null, isFixed = false } = levels.find(({ externalId }) =>
          externalId === unit.externalId
        ) ?? {}
        return there === null || isFixed ? [] : [{ unit, there }]
      })
      const agreed = yield* agree(call, store, shown)
      const sent = yield* send(call, stock, agreed.units)
      posted += agreed.posted
      left = sent.filter(({ level }, at) => (agreed.units[at]?.sentLevel ?? level) !== level)
    }
    return posted
  }
)

/** The same for a store's units with these ids there, or for a page of all of them. */
export const linkedUnits = (
  { db }: CatalogCall,
  storeId: string,
  some: { readonly externalId: { readonly in: ReadonlyArray<string> } } | { readonly id: { readonly gt: string } },
  limit = linkedPageSize
) =>
  db.table(entityMap).list({ storeId, kind: "variant", isLinked: true, goneAt: null, ...some }, {
    order: ["id"],
    limit
  })

/** A change by a store itself does not go back to it (contract-tills-channels, amendment 46). */
const noticeStock = Effect.fn("LinkedStock.notice")(function*({ db, event, jobs }: EventCall) {
  for (const storeId of yield* db.use(storesOfLinked)()) {
    if (event.actorId !== `channel:${storeId}`) yield* jobs.enqueue(sendTask, { storeId })
  }
})

const notice = { handler: noticeStock, only: { rowsIn: [rowIn(entityMap, { where: { isLinked: true } })] } } as const
export const stockEvents = { "inventory.afterAdjust": notice, "orders.*": notice } as const

/** Sets the stock of our products at a store that sells them, too, where it changed here (contract-tills-channels, amendment 45). */
export const stockSending = defineTask({
  slug: sendTask,
  retries,
  concurrency: { key: ofStore, supersedes: true },
  handler: Effect.fn("LinkedStock.run")(function*(call: PluginTaskCall) {
    const { work } = yield* StoreSessions
    const { db } = call.ctx
    yield* work(call, String(call.input["storeId"]), (session) =>
      Effect.gen(function*() {
        for (let after = firstId, more = true; more;) {
          const ids = yield* db.use(unitsToSend)(session.store, after, linkedPageSize)
          const units = yield* db.table(entityMap).list({ id: { in: ids } }, { order: ["id"], limit: linkedPageSize })
          yield* settleLinked(call.ctx, session, units)
          after = ids.at(-1) ?? after
          more = ids.length === linkedPageSize
        }
      }))
  })
})
