import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import type { Locking } from "../batching/GroupCommitRepo.ts"
import { byOrigin, journal, originOf } from "../events/JournalRepo.ts"
import { newId } from "../ids/Id.ts"
import type { CartLine, CartState } from "./Cart.ts"
import { lineJson } from "./CartEntryRepo.ts"
import type { LineRow } from "./CartRows.ts"

/** A line to be added to a cart that was seen in this state. */
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
  work: actor.workId ?? null
})

/**
 * Adds lines to carts, at most one to each, every one fenced by the version its sender saw: `line` is null for a cart
 * that others have moved, and a row is missing for one that is locked and was not to be waited for. Carts are locked in
 * the order of their ids, so that two statements never wait for each other. They are picked by their ids and not by the
 * joins alone, whose plan would read the whole table while it is young. What is added for a keyed request bears its
 * mark (`MarkRepo`).
 */
export const addStatement = (sql: SqlClient.SqlClient, adds: ReadonlyArray<Add>, locking: Locking) =>
  sql<{ readonly n: number; readonly line: LineRow | null }>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(adds.map(toInput))}::jsonb) as i(
      n int, id uuid, cart uuid, organization text, version bigint, entity uuid, variant uuid, quantity int,
      price bigint, currency text, added timestamptz, event uuid, origin jsonb, work uuid)),
    locked as materialized (select c.id, i.n from input i join carts c on c.id = i.cart
      where c.id = any(array(select cart from input)) and c.organization_id = i.organization
      order by c.id for update of c ${sql.literal(locking)}),
    moved as (update carts c set version = c.version + 1, updated_at = now() from locked k, input i
      where c.id = any(array(select id from locked)) and c.id = k.id and i.n = k.n and c.version = i.version and c.status = 'active' and c.expires_at > now()
      returning i.n),
    line as (insert into cart_lines
        (id, organization_id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency, added_at)
      select i.id, i.organization, i.cart, i.entity, i.variant, i.quantity, i.price, i.currency, i.added
      from input i join moved m on m.n = i.n
      on conflict (cart_id, entity_id, variant_id) do update
        set quantity = cart_lines.quantity + excluded.quantity, unit_price_snapshot = excluded.unit_price_snapshot
      returning *),
    event as (insert into ${journal(sql)}
      select i.event, i.organization, 'cart.afterAddItem', 'cart', l.cart_id::text, ${sql.literal(lineJson("l"))},
        -- The statement began before the line was raised, and its fence says that nobody else did in between.
        (select ${sql.literal(lineJson("o"))} from cart_lines o where o.cart_id = i.cart and o.id = l.id),
        ${byOrigin(sql)} from input i join line l on l.cart_id = i.cart),
    marked as (insert into keyed_changes (organization_id, work_id)
      select i.organization, i.work from input i join line l on l.cart_id = i.cart where i.work is not null)
    select k.n, to_jsonb(l) as line from locked k join input i on i.n = k.n left join line l on l.cart_id = i.cart`
