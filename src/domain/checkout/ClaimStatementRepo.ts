import type { SqlClient } from "effect/sql"
import type { Locking } from "../batching/GroupCommitRepo.ts"
import type { ClaimedLine } from "./Basket.ts"
import { linesOfCart } from "./SellableSnapshotRepo.ts"

/**
 * Commits the surrounding statement without waiting for the disk. Safe for a checkout step that only a later, flushed
 * step makes durable: PostgreSQL writes its log in order, so a crash that loses this step loses the later ones too, and
 * the checkout repeats them. Never use it before a step that calls an external service.
 */
export const unflushed = (sql: SqlClient.SqlClient) => sql`set_config('synchronous_commit', 'off', true) as durability`

/** A checkout's claim of a cart, with the visitor's credentials. */
export interface Claim {
  readonly cart: string
  readonly checkout: string
  readonly organization: string
  /** The visitor's profile and secret hash; whether they may serve guests or open any cart. */
  readonly customer: string | null
  readonly secret: string | null
  readonly serves: boolean
  readonly everything: boolean
  readonly currency: string
}

export interface ClaimRow {
  readonly n: number
  readonly claimed: boolean
  readonly admitted: boolean
  readonly status: string
  readonly expired: boolean
  readonly currency: string
  readonly customer_id: string | null
  readonly email: string | null
  readonly group_ids: ReadonlyArray<string> | null
  readonly secret_hash: string
  readonly ours: boolean
  readonly ordered: boolean
  readonly lines: ReadonlyArray<ClaimedLine>
}

/**
 * Claims carts for checkouts and reads their lines. Locks carts in id order; `locking` waits for locked carts or skips
 * them. `admitted` repeats the rule `admit`, so that the claim never changes a foreign cart. Conditions use
 * `any(array(...))` and scalar subqueries instead of joins and `exists`: on a young table the planner would scan it.
 */
export const claimStatement = (sql: SqlClient.SqlClient, claims: ReadonlyArray<Claim>, locking: Locking) =>
  sql<ClaimRow>`with input as materialized (
      select * from jsonb_to_recordset(${
    JSON.stringify(claims.map((claim, n) => ({ ...claim, n })))
  }::jsonb) as i(n int,
        cart uuid, checkout uuid, organization text, customer uuid, secret text, serves boolean, everything boolean,
        currency text)),
    locked as materialized (
      select c.id from input i join carts c on c.id = i.cart and c.organization_id = i.organization
      where c.id = any(array(select cart from input)) order by c.id for update of c ${sql.literal(locking)}),
    c as (
      select c.*, i.n, i.checkout, i.currency as wanted,
        (c.customer_id = i.customer or c.secret_hash = i.secret or (c.customer_id is null and i.serves)
          or i.everything) as admitted
      from input i join carts c on c.id = i.cart and c.organization_id = i.organization
      where c.id = any(array(select id from locked))),
    claimed as (
      update carts t set status = 'checking_out', checkout_id = c.checkout, version = t.version + 1, updated_at = now()
      from c where t.id = any(array(select id from locked)) and t.id = c.id and c.admitted and t.currency = c.wanted
        and ((t.status = 'active' and t.expires_at > now())
          or (t.status = 'checking_out' and t.checkout_id = c.checkout))
        and (select true from cart_lines l where l.cart_id = t.id limit 1)
        and t.version = c.version -- a line added after this statement began would be missing below
      returning c.n)
    select ${unflushed(sql)}, c.n, exists (select 1 from claimed where claimed.n = c.n) as claimed,
      coalesce(c.admitted, false) as admitted, c.status, c.expires_at <= now() as expired, c.currency, c.customer_id, c.email,
      c.secret_hash, (select group_ids from customers u where u.id = c.customer_id) as group_ids,
      c.status = 'checking_out' and c.checkout_id = c.checkout as ours,
      coalesce((select true from orders o where o.id = c.checkout and o.organization_id = c.organization_id limit 1),
        false) as ordered,
      ${sql.literal(linesOfCart)} as lines
    from c`
