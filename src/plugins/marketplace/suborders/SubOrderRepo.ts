import { Effect } from "effect"
import {
  type Actor,
  changeLogRows,
  CurrentActor,
  type OrderId,
  type PluginDatabase,
  rowJson,
  rowsOf,
  statement
} from "stoa/plugin"
import { subOrderLines, subOrders } from "./SubOrder.ts"
import { FoundSubOrder, type WantedSubOrder } from "./SubOrderState.ts"

const found = rowsOf(FoundSubOrder)

/**
 * Locks the sub-orders of orders, in the order of their ids, and reads them with their lines and their entries of the
 * ledger, in one statement. Writers of lines and entries hold the lock of the order, so neither changes meanwhile.
 */
export const lockSubOrders = statement(
  "SubOrderRepo.lock",
  function*(sql, organizationId, orderIds: ReadonlyArray<OrderId>) {
    return yield* found(sql`select s.id, s.order_id as "orderId", s.vendor_id as "vendorId", s.currency, s.status,
        s.cancellation_reason as "cancellationReason", s.subtotal::float8 as subtotal,
        s.refunded_amount::float8 as "refundedAmount", s.commission_amount::float8 as "commissionAmount",
        s.payout_amount::float8 as "payoutAmount",
        coalesce((select jsonb_agg(${sql.literal(rowJson(subOrderLines, "l", ["subOrderId", "createdAt"]))})
          from marketplace_sub_order_lines l where l.sub_order_id = s.id), '[]') as lines,
        coalesce((select jsonb_object_agg(e.type, e.amount) from (
          select type, sum(amount_cents) as amount from marketplace_vendor_balances
          where organization_id = ${organizationId} and sub_order_id = s.id
            and type in ('sale', 'commission', 'refund_deduction', 'commission_reversal') group by type) e), '{}') as posted
      from marketplace_vendor_sub_orders s
      where s.organization_id = ${organizationId} and s.order_id = any(${orderIds}::uuid[])
      order by s.id for update of s`)
  }
)

const subject = "marketplace/marketplace_vendor_sub_orders"

type Sql = PluginDatabase["sql"]

const inputOf = (wanted: ReadonlyArray<WantedSubOrder>) => ({
  subOrders: JSON.stringify(
    wanted.map(({ isCancelled: _, isChanged: __, lines: ___, owed: ____, posted: _____, ...one }) => one)
  ),
  lines: JSON.stringify(wanted.flatMap(({ id, lines }) => lines.map((line) => ({ ...line, subOrderId: id })))),
  kept: wanted.flatMap(({ lines }) => lines.map(({ id }) => id)),
  ids: wanted.map(({ id }) => id)
})

const inputPart = (sql: Sql, name: string, rows: string) =>
  sql`${sql.literal(name)} as materialized (
      select * from jsonb_to_recordset(${rows}::jsonb) as i(id uuid, "orderId" uuid, "vendorId" uuid,
        currency text, status text, "cancellationReason" text, subtotal bigint, "refundedAmount" bigint,
        "commissionAmount" bigint, "payoutAmount" bigint, "isNew" boolean))`

/** Inserts sub-orders of the rows `from`, which call the input `i`. */
const madePart = (sql: Sql, name: string, organizationId: string, from: string) =>
  sql`${sql.literal(name)} as (
      insert into marketplace_vendor_sub_orders (id, organization_id, order_id, vendor_id, currency, status, subtotal,
        refunded_amount, commission_amount, payout_amount)
      select i.id, ${organizationId}, i."orderId", i."vendorId", i.currency, i.status, i.subtotal, i."refundedAmount",
        i."commissionAmount", i."payoutAmount"
      from ${sql.literal(from)} returning *)`

/** Inserts lines, or updates the amounts of those that are there. `only` restricts the lines `l`. */
const linesPart = (sql: Sql, name: string, lines: string, only: string) =>
  sql`${sql.literal(name)} as (
      insert into marketplace_sub_order_lines (id, sub_order_id, order_line_id, entity_id, variant_id, title, quantity,
        total_price, refunded_amount, commission_amount, rule_id, rate_bps, fixed_fee_cents, min_fee_cents, max_fee_cents)
      select l.id, "subOrderId", "orderLineId", "entityId", "variantId", title, quantity, "totalPrice", "refundedAmount",
        "commissionAmount", "ruleId", "rateBps", "fixedFeeCents", "minFeeCents", "maxFeeCents"
      from jsonb_to_recordset(${lines}::jsonb) as l(id uuid, "subOrderId" uuid, "orderLineId" uuid, "entityId" uuid,
        "variantId" uuid, title text, quantity int, "totalPrice" bigint, "refundedAmount" bigint,
        "commissionAmount" bigint, "ruleId" uuid, "rateBps" int, "fixedFeeCents" bigint, "minFeeCents" bigint,
        "maxFeeCents" bigint) ${sql.literal(only)}
      on conflict (order_line_id) do update set quantity = excluded.quantity, total_price = excluded.total_price,
        refunded_amount = excluded.refunded_amount, commission_amount = excluded.commission_amount)`

const createdPart = (sql: Sql, name: string, actor: Actor, made: string) =>
  sql`${sql.literal(name)} as (${
    changeLogRows(sql, actor, {
      type: `${subject}.create`,
      entityType: subject,
      entityId: `${made}.id::text`,
      payload: rowJson(subOrders, made),
      from: made
    })
  })`

/** Parts of the statement that creates the orders of checkouts (`OrderProjection.created`): sub-orders, lines and change log. */
export const newSubOrderParts = Effect.fnUntraced(
  function*({ sql }: PluginDatabase, wanted: ReadonlyArray<WantedSubOrder>, prefix: string) {
    const actor = yield* CurrentActor
    const rows = inputOf(wanted)
    const [input, made] = [`${prefix}input`, `${prefix}made`]
    return sql.join(", ", false)([
      inputPart(sql, input, rows.subOrders),
      madePart(sql, made, actor.organizationId, `${input} i join created on created.id = i."orderId"`),
      linesPart(sql, `${prefix}lines`, rows.lines, `where l."subOrderId" in (select id from ${made})`),
      createdPart(sql, `${prefix}created`, actor, made)
    ])
  }
)

/**
 * Writes sub-orders as they have to be, with lines and change log, in one statement for any number of them. Their orders and
 * they themselves are locked by the caller.
 */
export const writeSubOrders = Effect.fnUntraced(
  function*({ sql }: PluginDatabase, wanted: ReadonlyArray<WantedSubOrder>) {
    const actor = yield* CurrentActor
    const { ids, kept, lines, subOrders: input } = inputOf(wanted)
    yield* sql`with ${inputPart(sql, "input", input)},
      ${madePart(sql, "made", actor.organizationId, "input i where i.\"isNew\"")},
      old as materialized (
        select s.* from marketplace_vendor_sub_orders s join input i on i.id = s.id and not i."isNew"
        where s.organization_id = ${actor.organizationId}),
      changed as (
        update marketplace_vendor_sub_orders s set status = i.status, subtotal = i.subtotal,
          refunded_amount = i."refundedAmount", commission_amount = i."commissionAmount",
          payout_amount = i."payoutAmount", cancellation_reason = i."cancellationReason", updated_at = now(),
          cancelled_at = case when i.status = 'cancelled' then coalesce(s.cancelled_at, now()) end
        from input i where i.id = s.id and not i."isNew" and s.organization_id = ${actor.organizationId}
        returning s.*),
      gone as (delete from marketplace_sub_order_lines
        where sub_order_id = any(${ids}::uuid[]) and id <> all(${kept}::uuid[])),
      ${linesPart(sql, "lines", lines, "")},
      ${createdPart(sql, "created", actor, "made")},
      updated as (${
      changeLogRows(sql, actor, {
        type: `${subject}.update`,
        entityType: subject,
        entityId: "changed.id::text",
        payload: rowJson(subOrders, "changed"),
        before: rowJson(subOrders, "old"),
        from: "changed join old on old.id = changed.id",
        only: `${rowJson(subOrders, "changed")} - 'updatedAt' is distinct from ${
          rowJson(subOrders, "old")
        } - 'updatedAt'`
      })
    })
      select 1`
  },
  Effect.orDie
)
