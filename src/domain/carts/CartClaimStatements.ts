import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Actor } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type CustomerId, newId } from "../platform/ids/Id.ts"
import { type CartLine, cartLines, type StoredCart } from "./Cart.ts"
import { loggedCart } from "./CartStatements.ts"
import { isSameLine } from "./Line.ts"

const mostUnits = 2_147_483_647

/** Lines of a cart after another one was merged into it: quantities of equal lines, and new lines. */
export const mergedLines = ({ cart, lines }: StoredCart, other: StoredCart | undefined) => {
  const raised: Array<Pick<CartLine, "id" | "quantity">> = []
  const added: Array<CartLine> = []
  for (const line of other?.lines ?? []) {
    const equal = lines.find((held) => isSameLine(held, line))
    if (equal === undefined) added.push({ ...line, id: newId(), cartId: cart.id })
    else raised.push({ id: equal.id, quantity: Math.min(equal.quantity + line.quantity, mostUnits) })
  }
  return { raised, added }
}

const { names } = cartLines
const added = { columns: cartLines.columns("r"), row: cartLines.row("a.line") }

/**
 * Gives a cart to a customer and merges their other one into it. Locks both in id order, and does nothing unless both
 * are as they were read.
 */
export const claimCartStatement = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  claimed: StoredCart,
  other: StoredCart | undefined,
  customer: CustomerId
) => {
  const read = [claimed, ...(other === undefined ? [] : [other])]
  const fences = JSON.stringify(read.map(({ cart: { id }, version }) => ({ id, version })))
  const organization = claimed.cart.organizationId
  const lines = mergedLines(claimed, other)
  const entry = changeLogRows(sql, actor, {
    type: "cart.update",
    entityType: "cart",
    entityId: "x.id::text",
    payload: loggedCart("x"),
    before: `(select ${loggedCart("f")} from previous f where f.id = x.id)`,
    from: "changed x"
  })
  return Effect.map(
    sql`with
    fence as materialized (select * from jsonb_to_recordset(${fences}::jsonb) as f(id uuid, version bigint)),
    previous as materialized (select c.* from carts c
      where c.id = any(array(select id from fence)) and c.organization_id = ${organization} order by c.id for update),
    open as materialized (select p.id from previous p join fence f on f.id = p.id and f.version = p.version
      where p.status = 'active' and p.expires_at > now()),
    changed as (update carts c set version = c.version + 1, updated_at = now(),
        status = case when c.id = ${claimed.cart.id}::uuid then 'active' else 'merged' end,
        customer_id = ${customer}::uuid
      where c.id = any(array(select id from open)) and (select count(*) from open) = ${read.length}::int returning c.*),
    claimed as (select id from changed where id = ${claimed.cart.id}::uuid),
    raised as (update cart_lines l set quantity = r.quantity
      from claimed, jsonb_to_recordset(${JSON.stringify(lines.raised)}::jsonb) as r(id uuid, quantity int)
      where l.cart_id = claimed.id and l.id = r.id),
    added as materialized (select a.line from claimed, jsonb_array_elements(${
      JSON.stringify(lines.added)
    }::jsonb) as a(line)),
    plain as (insert into cart_lines (organization_id, ${sql.literal(names)})
      select ${organization}, ${sql.literal(added.columns)} from added a, ${sql.literal(added.row)} r
      where r.metadata = '{}'),
    distinguished as (insert into cart_lines_with_metadata (organization_id, metadata_hash, ${sql.literal(names)})
      select ${organization}, md5(r.metadata::text), ${sql.literal(added.columns)}
      from added a, ${sql.literal(added.row)} r where r.metadata <> '{}'),
    entry as (${entry})${idempotencyRecord(sql, actor, "changed")}
    select 1 from claimed`,
    (rows) => rows.length === 0 ? "stale" as const : "claimed" as const
  )
}
