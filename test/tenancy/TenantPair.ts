import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { rowsAreTaken } from "./Taken.ts"

/** Names that two organizations share: holders are any text, and the keys of the tables begin with the organization. */
export interface TenantPair {
  readonly order: string
  readonly sellable: string
  readonly warehouse: string
}

/**
 * The same sellable in the same warehouse, held by the same order with 4 units and by hand with 2, in our organization
 * (10 on hand) and in the other one (100 on hand, version 7). `state` is the one of our holds; the other's are alive.
 * The other's rows lie first in the tables, where a statement that does not tell them apart finds them first.
 */
export const pairs = Effect.fnUntraced(function*(state: "held" | "sold" | "released") {
  const sql = yield* SqlClient.SqlClient
  const pair: TenantPair = { order: randomUUID(), sellable: randomUUID(), warehouse: randomUUID() }
  yield* sql`insert into organizations (id, slug, name) values ('org_twin', 'twin', 'Twin') on conflict do nothing`
  yield* sql`insert into warehouses (id, organization_id, name, code)
    values (${pair.warehouse}::uuid, 'org_default', 'Shared', ${pair.warehouse})`
  for (
    const [organization, onHand, version, now] of [["org_twin", 100, 7, "held"], ["org_default", 10, 0, state]] as const
  ) {
    yield* sql`insert into stock_items values (${organization}, ${pair.sellable}::uuid, ${version})`
    yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand, reserved)
      values (gen_random_uuid(), ${organization}, ${pair.sellable}::uuid, ${pair.warehouse}::uuid,
        ${pair.sellable}::uuid, ${onHand}, 6)`
    for (const [holder, quantity] of [[pair.order, 4], [`manual:${pair.order}`, 2]] as const) {
      yield* sql`insert into holds (organization_id, holder, state, pricing, expires_at, updated_at)
        values (${organization}, ${holder}, ${now}, to_jsonb(${organization}::text), now() + interval '1 hour',
          case when ${now} = 'released' then now() - interval '100 days' else now() end)`
      yield* sql`insert into hold_lines values (${organization}, ${holder}, ${pair.sellable}::uuid,
        ${pair.warehouse}::uuid, ${quantity})`
    }
  }
  return pair
})

const tables = ["stock_items", "stock_levels", "holds", "hold_lines", "stock_movements"]

/** Everything an organization has of the stock, as text. */
export const rowsOf = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Effect.forEach(
    tables,
    (table) =>
      sql<{ row: string }>`select t::text as row from ${
        sql(table)
      } t where organization_id = ${organization} order by 1`
  )
  return found.flat().map(({ row }) => row)
})

export interface Ours {
  readonly on_hand: number
  readonly reserved: number
  readonly version: number
  readonly order: string | null
  readonly manual: string | null
  readonly held: number
  readonly movements: number
}

/** What is left in our organization: units, the state of both holds, units they still hold, movements. */
export const ours = Effect.fnUntraced(function*({ order, sellable }: TenantPair) {
  const sql = yield* SqlClient.SqlClient
  const stateOf = (holder: string) =>
    sql`(select state from holds where organization_id = 'org_default' and holder = ${holder})`
  const [row] = yield* sql<Ours>`select l.on_hand, l.reserved, i.version::int4 as version, ${stateOf(order)} as order,
      ${stateOf(`manual:${order}`)} as manual,
      (select coalesce(sum(quantity), 0)::int4 from hold_lines h
        where h.organization_id = 'org_default' and h.sellable_id = i.sellable_id) as held,
      (select count(*)::int4 from stock_movements m
        where m.organization_id = 'org_default' and m.entity_id = i.sellable_id) as movements
    from stock_items i join stock_levels l using (organization_id, sellable_id)
    where i.organization_id = 'org_default' and i.sellable_id = ${sellable}::uuid`
  return row
})

/**
 * Does it to our twin while somebody is at the other's rows: it does not wait, its result and what is left are as said,
 * and nothing of the other organization has moved.
 */
export const alone = Effect.fnUntraced(function*<A, E, R>(
  state: "held" | "sold" | "released",
  act: (pair: TenantPair) => Effect.Effect<A, E, R>,
  expected: { readonly result: A; readonly left: Ours }
) {
  const pair = yield* pairs(state)
  const before = yield* rowsOf("org_twin")
  const result = yield* Effect.scoped(Effect.andThen(rowsAreTaken("org_twin"), Effect.timeout(act(pair), "5 seconds")))
  assert.deepStrictEqual(result, expected.result)
  assert.deepStrictEqual(yield* ours(pair), expected.left)
  assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
})

export const untouched: Ours = {
  on_hand: 10,
  reserved: 6,
  version: 0,
  order: "held",
  manual: "held",
  held: 6,
  movements: 0
}
export const sold: Ours = { ...untouched, order: "sold", manual: "sold" }
