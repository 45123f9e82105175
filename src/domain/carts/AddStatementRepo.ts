import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import type { Locking } from "../batching/GroupCommitRepo.ts"
import { byOrigin, changeLog, originOf } from "../events/ChangeLogRepo.ts"
import { newId } from "../ids/Id.ts"
import type { CartLine, CartState } from "./Cart.ts"
import { lineJson, type LineRow } from "./CartRowRepo.ts"

/** A line to add to a cart that its sender read in this state. */
export interface Add {
  readonly from: CartState
  readonly line: CartLine
  readonly actor: Actor
}

const toInput = ({ actor, from: { cart, version }, line }: Add, n: number) => ({
  n,
  id: line.id,
  cart: cart.id,
  organization: cart.organizationId,
  version,
  entity: line.entityId,
  variant: line.variantId,
  quantity: line.quantity,
  price: line.unitPriceSnapshot,
  currency: line.currency,
  added: line.addedAt,
  event: newId(),
  origin: originOf(actor),
  work: actor.executionId ?? null
})

/**
 * Adds lines to carts, at most one to each, fenced by the version that the sender read. `line` is null when the cart has
 * changed; a row is missing when the cart was locked and skipped. Locks carts in id order. Conditions use
 * `any(array(...))`, because on a young table the planner would scan it for a join.
 */
export const addStatement = (sql: SqlClient.SqlClient, adds: ReadonlyArray<Add>, locking: Locking) =>
  sql<{ readonly n: number; readonly line: LineRow | null }>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(adds.map(toInput))}::jsonb) as i(
      n int, id uuid, cart uuid, organization text, version bigint, entity uuid, variant uuid, quantity int,
      price bigint, currency text, added timestamptz, event uuid, origin jsonb, work uuid)),
    locked as materialized (select c.id, i.n from input i join carts c on c.id = i.cart
      where c.id = any(array(select cart from input)) and c.organization_id = i.organization
      order by c.id for update of c ${sql.literal(locking)}),
    changed as (update carts c set version = c.version + 1, updated_at = now() from locked k, input i
      where c.id = any(array(select id from locked)) and c.id = k.id and i.n = k.n and c.version = i.version and c.status = 'active' and c.expires_at > now()
      returning i.n),
    line as (insert into cart_lines
        (id, organization_id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency, added_at)
      select i.id, i.organization, i.cart, i.entity, i.variant, i.quantity, i.price, i.currency, i.added
      from input i join changed m on m.n = i.n
      on conflict (cart_id, entity_id, variant_id) do update
        set quantity = cart_lines.quantity + excluded.quantity, unit_price_snapshot = excluded.unit_price_snapshot
      returning *),
    event as (insert into ${changeLog(sql)}
      select i.event, i.organization, 'cart.afterAddItem', 'cart', l.cart_id::text, ${sql.literal(lineJson("l"))},
        -- The snapshot of this statement still has the previous line; the fence excludes other changes.
        (select ${sql.literal(lineJson("o"))} from cart_lines o where o.cart_id = i.cart and o.id = l.id),
        ${byOrigin(sql)} from input i join line l on l.cart_id = i.cart),
    marked as (insert into idempotency_records (organization_id, execution_id)
      select i.organization, i.work from input i join line l on l.cart_id = i.cart where i.work is not null)
    select k.n, to_jsonb(l) as line from locked k join input i on i.n = k.n left join line l on l.cart_id = i.cart`
