import { Effect } from "effect"
import type { ChangeOf, EntityId, PluginCall } from "stoa/plugin"
import { hashOf } from "./CatalogMapping.ts"
import type { RefusedWrite, ValueOf } from "./ChannelAdapter.ts"
import { type Difference, type PlannedProduct, planProducts } from "./PushPlan.ts"
import { noteAgreed } from "./PushRepo.ts"
import { catalogConflict, catalogConflicts, type catalogPushes } from "./PushTables.ts"
import type { StoreSession } from "./StoreSessions.ts"
import type { Agreed } from "./StoreTables.ts"

/** How a push ends, and what is noted with it. */
export interface PushEnd {
  readonly move: "confirm" | "fail" | "abandon"
  readonly change?: ChangeOf<typeof catalogPushes>
}

const refused = (move: "fail" | "abandon", message: string): PushEnd => ({
  move,
  change: { lastError: message.slice(0, 2_000), failureKind: "definitive" }
})

/** Brings conflicts up to date, but for those that somebody has decided meanwhile. */
const settleConflicts = Effect.fnUntraced(
  function*({ db }: PluginCall, { conflicts, differences = [], map: { entityId, storeId } }: PlannedProduct) {
    for (const { before, fieldPath, step, value } of differences) {
      const open = conflicts.find((one) => one.fieldPath === fieldPath)
      const values = { platformValue: value, storeValue: before }
      if (open === undefined) {
        if (step !== "conflict") continue
        yield* Effect.ignore(db.table(catalogConflicts).insert({ storeId, entityId, fieldPath, ...values }))
      } else if (step === "equal") {
        yield* Effect.ignore(db.use(catalogConflict).move("resolve", open.id, values))
      } else if (open.platformValue !== value || open.storeValue !== before) {
        yield* Effect.ignore(db.table(catalogConflicts).update(open.id, values, { state: "open" }))
      }
    }
  }
)

type Fields = Readonly<Record<string, Agreed>>

const fieldsOf = (all: ReadonlyArray<Difference>, agreed: (one: Difference) => Agreed): Fields =>
  Object.fromEntries(all.map((one) => [one.fieldPath, agreed(one)]))

/** Before values are sent: one that the store takes and says nothing about is no change of the store. */
const sending = ({ map }: PlannedProduct, writes: ReadonlyArray<Difference>): Fields =>
  fieldsOf(writes.filter(({ fieldPath }) => map.agreed?.[fieldPath] !== undefined), ({ fieldPath, value }) => ({
    ...map.agreed?.[fieldPath] ?? { here: "", there: "" },
    sent: hashOf(value)
  }))

/** What both sides agree on after a write. A field that never had a value here is not ours. */
const agreedOf = (
  { differences = [], map }: PlannedProduct,
  writes: ReadonlyArray<Difference>,
  there: ValueOf
): Fields => {
  const equal = differences.filter(({ fieldPath, step, value }) =>
    step === "equal" && (value !== null || map.agreed?.[fieldPath] !== undefined)
  )
  return {
    ...fieldsOf(equal, ({ before, value }) => ({ here: hashOf(value), there: hashOf(before) })),
    ...fieldsOf(writes, (field) => ({ here: hashOf(field.value), there: hashOf(there(field)) }))
  }
}

const nothing: ValueOf = () => null

const payloadOf = (writes: ReadonlyArray<Difference>) =>
  Object.fromEntries(writes.map(({ fieldPath, value }) => [fieldPath, value?.slice(0, 500) ?? null]))

/** Writes fields of products that differ at their store, and gives how the push of each ended. */
export const writeFields = Effect.fn("PushBatch.write")(
  function*(call: PluginCall, { channel: { pushCatalog: push }, store }: StoreSession, ids: ReadonlyArray<EntityId>) {
    const { db } = call
    const ends = new Map(ids.map((id) => [id, refused("abandon", "The store has no such product.")]))
    if (push === undefined) return ends
    const planned = yield* planProducts(call, store, push, ids)
    yield* Effect.forEach(planned, (one) => settleConflicts(call, one), { discard: true })
    const there = planned.filter(({ differences }) => differences !== undefined).map((product) => ({
      product,
      writes: product.differences?.filter(({ step }) => step === "write") ?? []
    }))
    const changed = there.filter(({ writes }) => writes.length > 0)
    let answers: ReadonlyMap<string, ValueOf | RefusedWrite> = new Map()
    if (changed.length > 0) {
      yield* db.use(noteAgreed)(
        changed.map(({ product, writes }) => ({ id: product.map.id, agreed: sending(product, writes) }))
      )
      answers = yield* push.write(changed.map(({ product, writes }) => ({
        externalId: product.map.externalId,
        values: writes.map(({ remoteKey, target, value }) => ({ target, remoteKey, value }))
      })))
    }
    const done = there.map(({ product, writes }) => {
      const { map: { entityId, externalId, id } } = product
      const answer = writes.length === 0 ? nothing : answers.get(externalId)
      if (typeof answer !== "function") {
        ends.set(entityId, refused("fail", answer?.refused ?? "The store did not answer about it."))
        return { id, agreed: agreedOf(product, [], nothing) }
      }
      ends.set(entityId, {
        move: "confirm",
        ...(writes.length > 0 && { change: { payloadSnapshot: payloadOf(writes) } })
      })
      return { id, agreed: agreedOf(product, writes, answer) }
    })
    yield* db.use(noteAgreed)(done)
    return ends
  }
)
