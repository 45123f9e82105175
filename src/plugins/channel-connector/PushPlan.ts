import { Effect } from "effect"
import type { EntityId, RowOf } from "stoa/plugin"
import { hashOf, mappingOf, type OutboundField, outboundFields } from "./CatalogMapping.ts"
import type { ChannelPush, ValueOf } from "./ChannelAdapter.ts"
import { entityValues } from "./EntityFields.ts"
import { type CatalogConflict, catalogConflicts } from "./PushTables.ts"
import type { CatalogCall } from "./StoreStock.ts"
import { type Agreed, entityMap, type Store } from "./StoreTables.ts"

/** A field on both sides. `kept`: the store has its form of our value; `absent`: it never had a value here. */
export interface Difference extends OutboundField {
  readonly before: string | null
  readonly step: "equal" | "kept" | "absent" | "write" | "conflict"
}

/** A product on both sides. */
export interface PlannedProduct {
  readonly map: RowOf<typeof entityMap>
  /** Undefined when the store does not have the product. */
  readonly differences: ReadonlyArray<Difference> | undefined
  readonly fields: ReadonlyArray<OutboundField>
  readonly conflicts: ReadonlyArray<CatalogConflict>
}

/** What happens to a field: the side that changed since both agreed wins, and neither does if both have. */
const stepOf = (
  here: string | null,
  there: string | null,
  agreed: Agreed | undefined,
  isHeld: boolean
): Difference["step"] => {
  if (here === there) return "equal"
  if (isHeld) return "conflict"
  if (agreed === undefined) return here === null ? "absent" : "write"
  const isChanged = hashOf(here) !== agreed.here
  if (hashOf(there) === agreed.there) return isChanged ? "write" : "kept"
  return isChanged && hashOf(there) !== agreed.sent ? "conflict" : "write"
}

/** Compares products here and at their store. Products that are not mapped are left out. */
export const planProducts = Effect.fn("PushPlan.plan")(
  function*(call: CatalogCall, store: Store, push: ChannelPush, entityIds: ReadonlyArray<EntityId>) {
    const { db } = call
    const storeId = store.id
    const mapping = yield* mappingOf(store)
    const mapped = yield* db.table(entityMap).list(
      { storeId, kind: "entity", entityId: { in: entityIds }, goneAt: null },
      { order: ["id"] }
    )
    const values = yield* entityValues(call, entityIds)
    const held = yield* db.table(catalogConflicts).list(
      { storeId, entityId: { in: entityIds }, state: "open" }
    )
    const products = mapped.flatMap((map) => {
      const found = values.get(map.entityId)
      return found === undefined ? [] : [{ map, fields: outboundFields(mapping, found) }]
    })
    const asked = products.map(({ fields, map }) => ({ externalId: map.externalId, fields }))
    const remote = asked.length === 0 ? new Map<string, ValueOf>() : yield* push.read(asked)
    return products.map(({ fields, map }): PlannedProduct => {
      const there = remote.get(map.externalId)
      const conflicts = held.filter(({ entityId }) => entityId === map.entityId)
      return {
        map,
        fields,
        conflicts,
        differences: there === undefined ? undefined : fields.map((field) => {
          const before = there(field)
          const isHeld = conflicts.some(({ fieldPath }) => fieldPath === field.fieldPath)
          return { ...field, before, step: stepOf(field.value, before, map.agreed?.[field.fieldPath], isHeld) }
        })
      }
    })
  }
)
