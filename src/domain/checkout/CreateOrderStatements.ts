import type { SqlClient } from "effect/sql"
import { type Order, orderLines } from "../orders/Order.ts"
import type { OrderProjections } from "../orders/OrderProjections.ts"
import { orderHistory, orders } from "../orders/OrderTable.ts"
import { type CapturedPart, type OrderPayment, orderTenders } from "../orders/Tender.ts"
import type { Actor } from "../platform/access/Actor.ts"
import type { Locking } from "../platform/batching/GroupCommitRepo.ts"
import type { StatementParts } from "../platform/database/DatabaseRepo.ts"
import { byOrigin, changeLog, originOf } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type CartId, newId, type OrderId, type PaymentId } from "../platform/ids/Id.ts"
import { usage } from "../promotions/UsageStatements.ts"
import type { RunToken } from "./CheckoutRunRepo.ts"
import type { PricedCart } from "./PricedCart.ts"

const order = {
  row: orders.row("i.o"),
  insertion: orders.copy("r", {
    id: "i.id",
    organizationId: "i.organization",
    isDraft: "coalesce(r.is_draft, false)",
    email: "nullif(trim(coalesce(i.email, cart.email)), '')",
    cartId: "i.cart",
    cartSecretHash: "i.secret",
    taxProvider: `i."taxProvider"`,
    paymentProvider: "i.provider"
  })
}
const line = { columns: orderLines.columns("r"), row: orderLines.row("l") }
const history = orderHistory.insertion({
  id: "i.history",
  organizationId: "p.organization_id",
  orderId: "p.id",
  fromStatus: "'pending'",
  toStatus: "'pending'",
  reason: "'order_created'",
  changedBy: "i.actor"
})

export interface NewOrder {
  readonly order: Order
  readonly pricedCart: PricedCart
  readonly cartId: CartId
  /** Absent: as the cart has it. */
  readonly email?: string | null | undefined
  readonly owner: RunToken
  readonly provider: string
  readonly payments: ReadonlyArray<OrderPayment>
}

export interface NewManualOrder extends Pick<NewOrder, "order" | "pricedCart"> {
  readonly email: string | null
  /** SHA-256 of the secret that opens it for a guest. */
  readonly secretHash?: string | null
  readonly payments?: ReadonlyArray<OrderPayment>
}

export interface CreatedOrderRow {
  readonly n: number
  readonly created: boolean
  readonly existed: boolean
}

export interface CheckoutOrderRow extends CreatedOrderRow {
  readonly owned: boolean
}

export interface OrderCreation {
  readonly newOrder: NewOrder
  readonly actor: Actor
  /** No projection is about it, as far as its run knows: the statement makes sure. */
  readonly isPlain?: boolean
}

const orderInput = (actor: Actor, { pricedCart, order }: Pick<NewOrder, "order" | "pricedCart">, n: number) => ({
  n,
  id: order.id,
  organization: actor.organizationId,
  customer: pricedCart.customerId,
  taxProvider: pricedCart.taxProvider ?? null,
  promotions: pricedCart.promotions.map(({ perCustomer, promotionId }) => ({ perCustomer, promotionId })),
  actor: actor.userId,
  origin: originOf(actor),
  history: newId(),
  event: newId(),
  o: order
})

const toInput = ({ actor, isPlain, newOrder }: OrderCreation, n: number) => ({
  ...orderInput(actor, newOrder, n),
  plain: isPlain ?? false,
  cart: newOrder.cartId,
  email: newOrder.email ?? null,
  owner: newOrder.owner,
  secret: newOrder.pricedCart.cartSecretHash,
  provider: newOrder.provider,
  payments: newOrder.payments
})

const input = (sql: SqlClient.SqlClient, rows: ReadonlyArray<object>) =>
  sql`input as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as i(n int, id uuid,
        organization text, cart uuid, owner uuid, secret text, customer uuid, "taxProvider" text, promotions jsonb, provider text, actor text,
        origin jsonb, history uuid, event uuid, email text, payments jsonb, plain boolean, o jsonb))`

const ownedRuns = (sql: SqlClient.SqlClient, locking: Locking, only = "") =>
  sql`run as materialized (
      select r.id from input i join checkout_runs r on r.id = i.id and r.organization_id = i.organization
      where r.id = any(array(select id from input)) and r.owner = i.owner ${sql.literal(only)}
      order by r.id for update of r ${sql.literal(locking)})`

const paymentRows = (sql: SqlClient.SqlClient) =>
  sql`payments as (insert into order_tenders (organization_id, order_id, ${sql.literal(orderTenders.names)})
      select p.organization_id, p.id, ${sql.literal(orderTenders.columns("r"))}
      from created p join input i on i.id = p.id, jsonb_array_elements(i.payments) t(l), ${
    sql.literal(orderTenders.row("l"))
  } r)`

const records = (sql: SqlClient.SqlClient) =>
  sql`created as (insert into orders ${sql.literal(order.insertion)}
      from cart join input i on i.n = cart.n, ${sql.literal(order.row)} r order by i.id returning id, organization_id),
    lines as (insert into order_lines (organization_id, position, ${sql.literal(orderLines.names)})
      select p.organization_id, place, ${sql.literal(line.columns)}
      from created p join input i on i.id = p.id, jsonb_array_elements(i.o->'lineItems') with ordinality t(l, place),
        ${sql.literal(line.row)} r),
    history as (insert into order_status_history ${sql.literal(history)} from created p join input i on i.id = p.id),
    event as (insert into ${changeLog(sql)}
      select i.event, p.organization_id, 'orders.create', 'order', p.id::text, i.o, null::jsonb, ${byOrigin(sql)}
      from created p join input i on i.id = p.id)`

const entitiesOfNew = "array(select (l->>'entityId')::uuid from jsonb_array_elements(i.o->'lineItems') l)"

/**
 * Creates orders with lines, history, events and promotion usage, and ends their holds and carts. Writes nothing
 * without the run, its held reservation and its claimed cart. Skips an order that a plugin's row makes no longer plain.
 * Lock order: runs by id, holds by key, carts by id, promotions by id.
 */
export const createOrderStatement = (
  sql: SqlClient.SqlClient,
  creations: ReadonlyArray<OrderCreation>,
  locking: Locking,
  parts: ReadonlyArray<StatementParts> = [],
  projections?: OrderProjections["Service"]
) => {
  const concerned = projections?.concernedBy("i.organization", entitiesOfNew, "i.id")
  const hasPayments = creations.some(({ newOrder }) => newOrder.payments.length > 0)
  return sql<CheckoutOrderRow>`with
    ${input(sql, creations.map(toInput))},
    ${ownedRuns(sql, locking, concerned && `and not (i.plain and (${concerned}))`)},
    held as materialized (
      select h.holder, i.n from input i join holds h on h.organization_id = i.organization and h.holder = i.id::text
      where h.organization_id = any(array(select organization from input))
        and h.holder = any(array(select id::text from run)) and h.state = 'held'
      order by h.organization_id, h.holder for update of h ${sql.literal(locking)}),
    claimed as materialized (
      select c.id, i.n from held join input i on i.n = held.n
        join carts c on c.id = i.cart and c.organization_id = i.organization
      where c.id = any(array(select cart from input)) and c.checkout_id = i.id and c.status = 'checking_out'
      order by c.id for update of c ${sql.literal(locking)}),
    hold as (
      update holds h set state = 'sold', expires_at = null, updated_at = now()
      from claimed join input i on i.n = claimed.n
      where h.organization_id = any(array(select organization from input))
        and h.holder = any(array(select holder from held)) and h.organization_id = i.organization
        and h.holder = i.id::text and h.state = 'held'
      returning i.n),
    cart as (
      update carts c set status = 'checked_out', version = c.version + 1, updated_at = now()
      from hold join claimed on claimed.n = hold.n
      where c.id = any(array(select id from claimed)) and c.id = claimed.id
      returning hold.n, c.email),
    ${usage(sql)},
    ${sql.join(", ", false)([records(sql), ...(hasPayments ? [paymentRows(sql)] : []), ...parts])}
    select i.n, exists (select 1 from created p where p.id = i.id) as created,
      coalesce((select true from orders o
        where o.id = i.id and o.organization_id = i.organization limit 1), false) as existed,
      exists (select 1 from run where run.id = i.id) as owned
    from input i`
}

const manualInput = ({ email, payments = [], secretHash = null }: NewManualOrder) => ({
  email,
  secret: secretHash,
  ...(payments.length === 0 ? {} : { provider: payments.at(-1)?.provider, payments })
})

export const createManualOrderStatement = (sql: SqlClient.SqlClient, actor: Actor, newOrder: NewManualOrder) =>
  sql<CreatedOrderRow>`with
    ${input(sql, [{ ...orderInput(actor, newOrder, 0), ...manualInput(newOrder) }])},
    hold as (
      update holds h set state = 'sold', expires_at = null, updated_at = now()
      where h.organization_id = ${actor.organizationId} and h.holder = ${newOrder.order.id} and h.state = 'held'
      returning h.holder),
    cart as (select i.n, i.email from input i where exists (select 1 from hold)),
    ${usage(sql)},
    ${records(sql)}${newOrder.payments === undefined ? sql.literal("") : sql`, ${paymentRows(sql)}`}${
    idempotencyRecord(sql, actor, "created")
  }
    select 0 as n, exists (select 1 from created) as created, false as existed`

export type Settled = Pick<Order, "status" | "amountCaptured" | "updatedAt">

export interface Settlement {
  readonly id: OrderId
  readonly organization: string
  readonly intent: string
  /** Null: the payment of the checkout. */
  readonly payment?: PaymentId | null
  readonly captured: number
  readonly parts: ReadonlyArray<CapturedPart>
  readonly actor: Actor
  readonly run?: { readonly owner: RunToken; readonly ends: boolean }
  readonly isPlain?: boolean
}

const toSettlement = ({ actor, isPlain: _, run, ...settlement }: Settlement, n: number) => ({
  ...settlement,
  owner: run?.owner ?? null,
  ends: run?.ends ?? false,
  n,
  entry: newId(),
  origin: originOf(actor)
})

export type SettledRow = { readonly n: number } & (Settled | { readonly [Field in keyof Settled]: null })

export const toSettled = ({ amountCaptured, status, updatedAt }: SettledRow): Settled | undefined =>
  status === null ? undefined : { status, amountCaptured, updatedAt }

const capture = (captured: string, intent: string) =>
  `jsonb_build_object('orderId', i.id, 'amountCaptured', ${captured}, 'paymentIntentId', ${intent})`

const partsCaptured = (sql: SqlClient.SqlClient) =>
  sql`, captured as (update order_tenders t set captured = p.captured
      from settled join input i on i.n = settled.n, jsonb_to_recordset(i.parts) as p(position int, captured bigint)
      where t.order_id = i.id and t.position = p.position)`

const entitiesOfOrder = "array(select l.entity_id from order_lines l where l.order_id = o.id)"

/**
 * Records captured amounts once each, skips cancelled orders and replaced payments, and deletes the runs that end. A run that is not the
 * owner records nothing; orders of `projections` are skipped. Locks runs by id, orders by id.
 */
export const settleStatement = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>,
  locking: Locking,
  projections?: OrderProjections["Service"]
) => {
  const concerned = projections?.concernedBy("o.organization_id", entitiesOfOrder, "o.id")
  return sql<SettledRow>`with
    input as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(settlements.map(toSettlement))}::jsonb)
        as i(n int, id uuid, organization text, intent text, payment uuid, captured bigint, parts jsonb, owner uuid, ends boolean,
        entry uuid, origin jsonb)),
    ${ownedRuns(sql, locking)},
    locked as materialized (
      select o.id, i.n, o.amount_captured, o.payment_intent_id from input i join orders o on o.id = i.id and o.organization_id = i.organization
      where o.id = any(array(select id from input where owner is null union all select id from run)) ${
    sql.literal(concerned === undefined ? "" : `and not (${concerned})`)
  }
      order by o.id for update of o ${sql.literal(locking)}),
    settled as (
      update orders o set amount_captured = coalesce(o.amount_captured, i.captured), payment_intent_id = i.intent,
        updated_at = now()
      from locked join input i on i.n = locked.n
      where o.id = any(array(select id from locked)) and o.id = i.id
        and (o.status <> 'cancelled' or o.amount_captured is not null)
        and o.payment_claim_id is null and o.payment_id is not distinct from i.payment
      returning i.n, o.status, o.amount_captured, o.updated_at)${
    settlements.some(({ parts }) => parts.length > 0) ? partsCaptured(sql) : sql.literal("")
  },
    ended as (delete from checkout_runs r using settled join input i on i.n = settled.n
      where r.id = any(array(select id from run)) and r.id = i.id and i.ends),
    entry as (insert into ${changeLog(sql)}
      select i.entry, i.organization, 'payments.capture', 'order', i.id::text,
        ${sql.literal(capture("settled.amount_captured", "i.intent"))},
        ${sql.literal(capture("locked.amount_captured", "locked.payment_intent_id"))}, ${byOrigin(sql)}
      from settled join input i on i.n = settled.n join locked on locked.n = i.n
      where locked.amount_captured is null)
    select locked.n, settled.status, settled.amount_captured::float8 as "amountCaptured",
      settled.updated_at as "updatedAt"
    from locked left join settled on settled.n = locked.n`
}
