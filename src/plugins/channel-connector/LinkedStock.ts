import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { defineTask, type EventCall, type PluginTaskCall, rowIn, type RowOf } from "stoa/plugin"
import type { ChannelStock } from "./ChannelAdapter.ts"
import { type ChannelError, ChannelUnavailable } from "./ChannelErrors.ts"
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
/** Merchants write more for goods without a limit. */
const mostUnits = 1_000_000_000

type Unit = RowOf<typeof entityMap>

const known = ({ id, level, sentKey, sentLevel }: KnownLevel): KnownLevel => ({ id, level, sentKey, sentLevel })

/** A unit after its write: `differs` where the store sold it meanwhile, `open` where no answer came. */
interface Sent {
  readonly unit: Unit
  readonly outcome: "set" | "differs" | "refused" | "open"
}

const noAnswer = (error: ChannelError): error is ChannelUnavailable =>
  error._tag === "ChannelUnavailable" && error.retryAfterMs === undefined

/** Makes the writes that are noted, each once, also those of a run that died. One that fails stops no other. */
const send = Effect.fnUntraced(function*({ db }: CatalogCall, stock: ChannelStock, units: ReadonlyArray<Unit>) {
  const sent = yield* Effect.forEach(units, (unit) => {
    const { externalId, level, sentKey, sentLevel } = unit
    if (sentKey === null || sentLevel === null) return Effect.succeed<Sent>({ unit, outcome: "set" })
    const ended = { ...unit, sentLevel: null, sentKey: null }
    return stock.set([{ externalId, expected: level, available: sentLevel }], sentKey).pipe(
      Effect.map(([answer]): Sent =>
        answer?.outcome === "set"
          ? { unit: { ...ended, level: sentLevel }, outcome: "set" }
          : { unit: ended, outcome: "differs" }
      ),
      Effect.catchIf(noAnswer, () => Effect.succeed<Sent>({ unit, outcome: "open" })),
      Effect.catchTag("ChannelRefused", ({ message }) =>
        Effect.as(
          Effect.logWarning(`The store refuses the stock of ${externalId}: ${message}`),
          { unit: ended, outcome: "refused" } satisfies Sent
        ))
    )
  }, { concurrency: callsAtOnce })
  const ended = sent.flatMap(({ unit }, at) => unit.sentKey === units[at]?.sentKey ? [] : [known(unit)])
  if (ended.length > 0) yield* db.use(noteLevels)(ended)
  return sent
})

/** A unit, and how many of it the store has now. */
interface Shown {
  readonly unit: Unit
  readonly there: number
}

/** Gives the postings and writes that make both sides equal. */
const differencesOf = Effect.fnUntraced(function*({ db }: CatalogCall, store: Store, shown: ReadonlyArray<Shown>) {
  const goods = shown.map(({ unit: { entityId, variantId } }) => ({ entityId, variantId }))
  const ours = yield* db.use(availableOf)(store.warehouseId, goods)
  return shown.flatMap(({ there, unit }, at) => {
    const { available = 0, isCounted = false } = ours[at] ?? {}
    const delta = there - (unit.level ?? there)
    const wanted = offeredUnits(store, available + delta) ?? 0
    const isSent = wanted !== there
    if (!isCounted || !isSent && unit.level === there) return []
    const sent = { sentLevel: isSent ? wanted : null, sentKey: isSent ? randomUUID() : null }
    return [{ delta, unit: { ...unit, level: there, ...sent } }]
  })
})

/**
 * Posts here what a store sold or put back since both sides agreed, and notes what it is to be set to. Where nothing differs it
 * locks nothing; else the map before the stock, as imports do. A unit that another run has agreed on meanwhile is left out.
 */
const agree = Effect.fnUntraced(
  function*(call: CatalogCall, store: Store, shown: ReadonlyArray<Shown>) {
    const { db, services } = call
    const ids = (yield* differencesOf(call, store, shown)).map(({ unit }) => unit.id)
    if (ids.length === 0) return { posted: 0, units: [] }
    const rows = yield* db.table(entityMap).list({ id: { in: ids } }, { order: ["id"], lock: true })
    const same = shown.filter(({ unit }) =>
      rows.some(({ id, level, sentKey }) => id === unit.id && level === unit.level && sentKey === null)
    )
    const warehouseId = yield* warehouseOf(call, store)
    yield* services.inventory.lock(same.map(({ unit: { entityId, variantId } }) => ({ entityId, variantId })))
    const changes = yield* differencesOf(call, store, same)
    const lines = changes.filter(({ delta }) => delta !== 0).map(({ delta, unit: { entityId, variantId } }) => ({
      entityId,
      variantId,
      warehouseId,
      delta,
      type: "adjustment" as const,
      allowNegative: true,
      reason: "channel"
    }))
    if (lines.length > 0) yield* services.inventory.post({ type: "channel-stock", id: randomUUID() }, lines)
    const units = changes.map(({ unit }) => unit)
    yield* db.use(noteLevels)(units.map(known))
    return { posted: lines.length, units }
  },
  (work, call, store) => asChannel(call, store.id, call.db.transaction(work))
)

/** The same; what the core refuses of one unit, such as too large a level, stops no other. */
const agreeEach = (
  call: CatalogCall,
  store: Store,
  shown: ReadonlyArray<Shown>
): Effect.Effect<Effect.Success<ReturnType<typeof agree>>> =>
  Effect.catch(agree(call, store, shown), ({ error: { message } }) =>
    shown.length > 1
      ? Effect.map(Effect.forEach(shown, (one) => agreeEach(call, store, [one])), (all) => ({
        posted: all.reduce((sum, { posted }) => sum + posted, 0),
        units: all.flatMap(({ units }) => units)
      }))
      : Effect.as(
        Effect.logWarning(`The stock of ${shown[0]?.unit.externalId} cannot be posted: ${message}`),
        { posted: 0, units: [] }
      ))

/**
 * Brings our products that a store sells, too, to one stock. Both sides sell, so the map has the level that they agreed on: what
 * the store differs from it is posted here, then the store is set to ours where it still has what was seen. The first time ours
 * counts. What is to be set is noted with its key before the call, so that a run after a crash learns whether it was made. Gives
 * how many were posted, and how many writes have no answer.
 */
const settle = Effect.fn("LinkedStock.settle")(
  function*(call: CatalogCall, { channel: { stock }, store }: StoreSession, linked: ReadonlyArray<Unit>) {
    let [posted, open, left] = [0, 0, linked]
    for (let tries = 0; stock !== undefined && tries < mostTries && left.length > 0; tries++) {
      const answered = yield* send(call, stock, left)
      const units = answered.flatMap(({ outcome, unit }) => outcome === "open" ? [] : [unit])
      const levels = units.length === 0 ? [] : yield* stock.read(units.map(({ externalId }) => externalId))
      const shown = units.flatMap((unit): ReadonlyArray<Shown> => {
        const level = levels.find(({ externalId }) => externalId === unit.externalId)
        return level === undefined || level.available === null || level.isFixed === true ||
            Math.abs(level.available) > mostUnits
          ? []
          : [{ unit, there: level.available }]
      })
      const agreed = yield* agreeEach(call, store, shown)
      const sent = yield* send(call, stock, agreed.units)
      posted += agreed.posted
      open += [...answered, ...sent].filter(({ outcome }) => outcome === "open").length
      left = sent.flatMap(({ outcome, unit }) => outcome === "differs" ? [unit] : [])
    }
    return { posted, open }
  }
)

/** The same, with a job for what has no answer and for what postings changed. Gives how many were posted. */
export const settleLinked = Effect.fnUntraced(
  function*(call: CatalogCall, session: StoreSession, linked: ReadonlyArray<Unit>) {
    const { open, posted } = yield* settle(call, session, linked)
    if (open + posted > 0) yield* Effect.catch(call.jobs.enqueue(sendTask, { storeId: session.store.id }), Effect.die)
    return posted
  }
)

export const linkedUnits = ({ db }: CatalogCall, storeId: string, after: string) =>
  db.table(entityMap).list(
    { storeId, kind: "variant", isLinked: true, goneAt: null, id: { gt: after } },
    { order: ["id"], limit: linkedPageSize }
  )

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
    const { db, jobs } = call.ctx
    yield* work(call, String(call.input["storeId"]), (session) =>
      Effect.gen(function*() {
        let waiting = 0
        for (let after = firstId, more = true; more;) {
          const ids = yield* db.use(unitsToSend)(session.store, after, linkedPageSize)
          const units = yield* db.table(entityMap).list({ id: { in: ids } }, { order: ["id"], limit: linkedPageSize })
          const { open, posted } = yield* settle(call.ctx, session, units)
          waiting += open
          // Another product of the store may be the same unit here, and orders may have waited for it.
          if (posted > 0) yield* Effect.catch(jobs.enqueue(sendTask, { storeId: session.store.id }), Effect.die)
          after = ids.at(-1) ?? after
          more = ids.length === linkedPageSize
        }
        if (waiting > 0) {
          return yield* new ChannelUnavailable({
            message: `The store has not answered for the stock of ${waiting} units.`
          })
        }
      }))
  })
})
