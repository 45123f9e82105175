import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { type EntityId, newId, type VariantId, type WarehouseId } from "../../src/domain/platform/ids/Id.ts"
import { theOrganization } from "../support/TestApp.ts"

/** The organization every database starts with. */
export const organization = "org_default"

/** A warehouse of the organization. */
export const addWarehouse = (
  options: { readonly priority?: number; readonly isActive?: boolean; readonly organization?: string } = {}
) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const id = newId<WarehouseId>()
    yield* sql`insert into warehouses (id, organization_id, name, code, priority, is_active)
      values (${id}, ${options.organization ?? organization}, 'A warehouse', ${id}, ${options.priority ?? 0},
        ${options.isActive ?? true})`
    return id
  }).pipe(Effect.orDie)

/** Puts units of a new sellable on hand, one entry per warehouse; gives its id (an entity without variants). */
export const stockUp = Effect.fnUntraced(function*(units: ReadonlyArray<readonly [warehouse: string, onHand: number]>) {
  const sql = yield* SqlClient.SqlClient
  const sellable = newId<EntityId>()
  yield* sql`insert into stock_items (organization_id, sellable_id) values (${organization}, ${sellable})`
  for (const [warehouse, onHand] of units) {
    yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand)
      values (${randomUUID()}, ${organization}, ${sellable}, ${warehouse}, ${sellable}, ${onHand})`
  }
  return sellable
}, Effect.orDie)

/** A new sellable with so many units in a new warehouse. */
export const inStock = Effect.fnUntraced(function*(onHand: number) {
  const warehouse = yield* addWarehouse()
  return { warehouse, sellable: yield* stockUp([[warehouse, onHand]]) }
})

/** Reserved and on-hand units of a sellable, by warehouse. */
export const unitsOf = Effect.fnUntraced(function*(sellable: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ warehouse_id: string; on_hand: number; reserved: number }>`
    select warehouse_id, on_hand, reserved from stock_levels where sellable_id = ${sellable}`
  return Object.fromEntries(rows.map((row) => [row.warehouse_id, { onHand: row.on_hand, reserved: row.reserved }]))
}, Effect.orDie)

/** Units of a sellable that live holds claim; must equal what its levels call reserved. */
export const heldUnits = Effect.fnUntraced(function*(sellable: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ units: number }>`select coalesce(sum(l.quantity), 0)::int4 as units
    from hold_lines l join holds h on h.organization_id = l.organization_id and h.holder = l.holder
    where l.sellable_id = ${sellable} and h.state in ('held', 'sold')`
  return rows[0]?.units ?? 0
}, Effect.orDie)

/** Another writer changes the units on hand: moves the version, as every writer must. */
export const restockBehindTheEntity = Effect.fnUntraced(function*(sellable: string, units: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`with i as (update stock_items set version = version + 1 where sellable_id = ${sellable})
    update stock_levels set on_hand = on_hand + ${units} where sellable_id = ${sellable}`
}, Effect.orDie)

/** An entity of the catalog that can be sold. */
export const addEntity = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const id = newId<EntityId>()
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    values (${id}, ${yield* theOrganization}, 'product', ${id}, 'active', true)`
  return id
}).pipe(Effect.orDie)

/** A variant of an entity. */
export const addVariant = Effect.fnUntraced(function*(entityId: string) {
  const sql = yield* SqlClient.SqlClient
  const id = newId<VariantId>()
  yield* sql`insert into variants (id, organization_id, entity_id, combination)
    values (${id}, ${yield* theOrganization}, ${entityId}, ${id})`
  return id
}, Effect.orDie)
