import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CartChoices } from "../carts/CartChoices.ts"
import { buyerProfile } from "../customers/BuyerProfile.ts"
import type { Locking } from "../platform/batching/GroupCommitRepo.ts"
import type { EntityTables, InTables } from "../platform/hooks/EntityTables.ts"
import { type CandidateRow, candidatesSql } from "../pricing/PriceStatements.ts"
import { promotionsSql } from "../promotions/CandidateStatements.ts"
import { checkoutRuns, type RunToken } from "./CheckoutRunRepo.ts"
import type { Basket } from "./PricedCart.ts"
import { catalogOf, sellableSnapshot, shownLine } from "./SellableStatements.ts"

/** A cart as its totals need it. */
export interface PricedBasket extends Basket {
  readonly choices: Partial<CartChoices>
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface ClaimedCart extends PricedBasket {
  readonly claimed: boolean
  readonly admitted: boolean
  readonly status: string
  readonly expired: boolean
  /** A run of this checkout holds the claim. */
  readonly ours: boolean
  readonly ordered: boolean
  readonly inTables?: InTables
}

export const groupsOfCustomer = `coalesce((select group_ids from customers_read u where u.id = c.customer_id), '{}')`

const basketOf = (line: string) =>
  `c.currency, c.customer_id as "customerId", c.buyer_email as email, c.secret_hash as "secretHash",
    ${groupsOfCustomer} as "customerGroupIds", ${buyerProfile("c")} as profile,
    coalesce((select jsonb_agg(${line} order by l.added_at, l.id)
      from cart_lines_read l ${catalogOf("l", "c")} where l.cart_id = c.id), '[]') as lines, c.choices, c.metadata`

export const basket = (address: string) =>
  basketOf(`${sellableSnapshot(address)} || jsonb_build_object('cartLineId', l.id)`)

/**
 * Commits without waiting for the disk. Safe only for a step that a later, flushed step makes durable: the log is
 * written in order, so a crash that loses this step loses the later ones too. Never use it before a call of an external
 * service.
 */
export const unflushed = (sql: SqlClient.SqlClient) => sql`set_config('synchronous_commit', 'off', true) as durability`

export interface Claim {
  readonly cart: string
  readonly checkout: string
  readonly run: { readonly owner: RunToken; readonly process: number | null; readonly payload: string } | null
  readonly organization: string
  readonly customer: string | null
  readonly secret: string | null
  readonly serves: boolean
  readonly everything: boolean
  readonly currency: string
  /** Null: as the cart has them. */
  readonly codes: ReadonlyArray<string> | null
  /** Null: as the cart has it. */
  readonly email: string | null
  readonly named: string | null
  readonly own: string | null
  readonly now: Date
}

const priced = candidatesSql({
  organization: "c.organization_id",
  ids: "chosen.ids",
  currency: "c.currency",
  now: "c.now"
})

const promoted = promotionsSql({
  organization: "c.organization_id",
  codes: "c.codes",
  customer: "coalesce(c.named, c.customer_id, c.own)",
  email: "c.buyer_email",
  now: "c.now"
})

/** The codes that a request names, else those of the cart. */
const codesOf = (sent: string) =>
  `coalesce(${sent}, array(select jsonb_array_elements_text(c.choices->'promotionCodes')))`

interface CandidatesRow extends CandidateRow {
  readonly promotions: unknown
}

export interface ClaimRow extends Omit<ClaimedCart, "candidates">, CandidatesRow {
  readonly n: number
}

const startedRun = checkoutRuns.insertion({
  id: "c.checkout",
  organizationId: "c.organization_id",
  owner: "(c.run->>'owner')::uuid",
  process: "(c.run->>'process')::int",
  payload: "c.run->>'payload'"
})

/**
 * Claims carts, records their runs and reads their lines with all that affects prices. Locks carts in id order.
 * `admitted` repeats the rule `admit`: the claim never changes a foreign cart. Conditions use `any(array(...))` and
 * scalar subqueries: on a young table the planner would scan it for a join.
 */
export const claimStatement = (
  sql: SqlClient.SqlClient,
  claims: ReadonlyArray<Claim>,
  locking: Locking,
  tables: EntityTables["Service"],
  read: string
) =>
  sql<ClaimRow>`with input as materialized (
      select * from jsonb_to_recordset(${
    JSON.stringify(claims.map((claim, n) => ({ ...claim, n })))
  }::jsonb) as i(n int,
        cart uuid, checkout uuid, run jsonb, organization text, customer uuid, secret text, serves boolean, everything boolean,
        currency text, codes text[], email text, named uuid, own uuid, now timestamptz)),
    locked as materialized (
      select c.id from input i join carts c on c.id = i.cart and c.organization_id = i.organization
      where c.id = any(array(select cart from input)) order by c.id for update of c ${sql.literal(locking)}),
    c as (
      select c.*, i.n, i.checkout, i.run, i.currency as wanted, ${sql.literal(codesOf("i.codes"))} as codes,
        coalesce(i.email, c.email) as buyer_email, i.named, i.own, i.now,
        (c.customer_id = i.customer or c.secret_hash = i.secret or (c.customer_id is null and i.serves)
          or i.everything) as admitted,
        coalesce((select true from orders_read o where o.id = i.checkout and o.organization_id = c.organization_id limit 1),
          false) as ordered
      from input i join carts c on c.id = i.cart and c.organization_id = i.organization
      where c.id = any(array(select id from locked))),
    claimed as (
      update carts t set status = 'checking_out', checkout_id = c.checkout, version = t.version + 1, updated_at = now()
      from c where t.id = any(array(select id from locked)) and t.id = c.id and c.admitted and not c.ordered
        and t.currency = c.wanted
        and ((t.status = 'active' and t.expires_at > now())
          or (c.run is null and t.status = 'checking_out' and t.checkout_id = c.checkout))
        and (select true from cart_lines_read l where l.cart_id = t.id limit 1)
        and t.version = c.version -- a line added after this statement began would be missing below
      returning c.n),
    runs as (
      insert into checkout_runs ${
    sql.literal(startedRun)
  } from c join claimed on claimed.n = c.n where c.run is not null)
    select ${unflushed(sql)}, c.n, exists (select 1 from claimed where claimed.n = c.n) as claimed,
      coalesce(c.admitted, false) as admitted, c.status, c.expires_at <= now() as expired,
      c.status = 'checking_out' and c.checkout_id = c.checkout as ours,
      c.ordered,
      ${sql.literal(read)}, ${sql.literal(priced.columns)}, ${sql.literal(promoted)} as promotions${
    sql.literal(tables.column("c.organization_id", "chosen.ids"))
  }
    from c cross join lateral (select array(select l.entity_id from cart_lines_read l where l.cart_id = c.id) as ids) chosen
      ${sql.literal(priced.joins)}`

/** Replaces choices of a cart for its totals. Null: as the cart has it. */
export interface BasketQuery {
  readonly cart: string
  readonly organization: string
  readonly currency: string | null
  readonly codes: ReadonlyArray<string> | null
  readonly email: string | null
  readonly named: string | null
  readonly own: string | null
  readonly now: Date
}

export interface BasketRow extends Omit<PricedBasket, "candidates">, CandidatesRow {}

export const shownBasket = (address: string) => basketOf(shownLine(address))

/** Reads what a claim reads, and claims nothing. */
export const basketStatement = (sql: SqlClient.SqlClient, query: BasketQuery, shown: string) =>
  Effect.map(
    sql<BasketRow>`with c as materialized (
      select c.id, c.organization_id, coalesce(${query.currency}::text, c.currency) as currency, c.customer_id,
        c.secret_hash, c.choices, c.metadata, coalesce(${query.email}::text, c.email) as buyer_email,
        ${sql.literal(codesOf("q.codes"))} as codes, ${query.named}::uuid as named, ${query.own}::uuid as own,
        ${query.now}::timestamptz as now
      from carts c, (select ${query.codes}::text[] as codes) q
      where c.id = ${query.cart}::uuid and c.organization_id = ${query.organization})
    select ${sql.literal(shown)}, ${sql.literal(priced.columns)}, ${sql.literal(promoted)} as promotions
    from c cross join lateral (select array(select l.entity_id from cart_lines_read l where l.cart_id = c.id) as ids) chosen
      ${sql.literal(priced.joins)}`,
    ([row]) => row
  )
