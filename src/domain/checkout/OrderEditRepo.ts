import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStock } from "../inventory/Inventory.ts"
import type { HoldChange } from "../inventory/StockRules.ts"
import { MediaAddress } from "../media/MediaAsset.ts"
import { type Order, orderLines, StoredLine } from "../orders/Order.ts"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import { orders } from "../orders/OrderTable.ts"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type OrderId, PromotionId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { usage, usageReturned } from "../promotions/UsageStatements.ts"
import { groupsOfCustomer } from "./ClaimStatements.ts"
import { usageRefusal } from "./CreateOrderRepo.ts"
import { ClaimedLine, type PricedCart } from "./PricedCart.ts"
import { catalogOf, sellableSnapshot } from "./SellableStatements.ts"

const edits = {
  order: orders.sets("r", [
    "subtotal",
    "taxTotal",
    "taxIncluded",
    "shippingTotal",
    "discountTotal",
    "grandTotal",
    "metadata",
    "updatedAt"
  ]),
  // Everything that an edit may change; shipments and refunds write the other columns meanwhile.
  line: orderLines.sets(
    "excluded",
    Struct.keys(Struct.omit(StoredLine.fields, ["id", "orderId", "refundedQuantity", "fulfillmentStatus"]))
  )
}

/**
 * Updates a pending order of this revision whose payment has not begun: an authorization of another amount must not
 * exist. No row when a guard refuses.
 */
export const orderUpdated = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  order: Order,
  revision: number,
  taxProvider: string | null
) =>
  sql`with input as materialized (select ${JSON.stringify(order)}::jsonb as o),
    edited as (
      update orders t set ${sql.literal(edits.order)}, tax_provider = ${taxProvider}::text, revision = t.revision + 1
      from input, ${sql.literal(orders.row("o"))} r
      where t.id = ${order.id}::uuid and t.organization_id = ${actor.organizationId} and t.revision = ${revision}
        and t.status = 'pending' and t.payment_intent_id is null and t.payment_claim_id is null
        and t.amount_captured is null
      returning t.id, t.organization_id),
    wanted as materialized (
      select (l->>'id')::uuid as id, l || jsonb_build_object('orderId', edited.id) as l from edited, input, jsonb_array_elements(o->'lineItems') l),
    gone as (
      delete from order_lines where order_id = (select id from edited) and id <> all(array(select id from wanted))),
    kept as (
      insert into order_lines (organization_id, position, ${sql.literal(orderLines.names)})
      select e.organization_id,
        coalesce((select position from order_lines x where x.order_id = e.id and x.id = w.id),
          (select max(position) + 1 from order_lines x where x.order_id = e.id)),
        ${sql.literal(orderLines.columns("r"))}
      from wanted w cross join edited e cross join ${sql.literal(orderLines.row("w.l"))} r
      on conflict (id) do update set ${sql.literal(edits.line)})
    select id from edited`

const EditedOrder = Schema.Struct({
  revision: Schema.Int,
  customerGroupIds: Schema.Array(Schema.String),
  email: Schema.NullOr(Schema.String),
  used: Schema.Array(PromotionId),
  snapshots: Schema.Array(ClaimedLine)
})
export type EditedOrder = typeof EditedOrder.Type

export interface OrderEdit extends Pick<EditedOrder, "revision" | "used"> {
  readonly before: Order
  readonly after: Order
  readonly pricedCart: PricedCart
  readonly hold: HoldChange
}

export class OrderEditRepo extends Context.Service<OrderEditRepo>()("stoa/domain/checkout/OrderEditRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const stock = yield* OrderStock
    const projections = yield* orderProjections
    const snapshot = sellableSnapshot(yield* MediaAddress)

    const find = Effect.fn("OrderEditRepo.find")(function*(orderId: OrderId) {
      const [order] = yield* decoding(sql, EditedOrder)`select c.revision, c.email,
          ${sql.literal(groupsOfCustomer)} as "customerGroupIds",
          coalesce((select array_agg(p.promotion_id::text) from promotion_usages p where p.order_id = c.id), '{}') as used,
          coalesce((select jsonb_agg(${sql.literal(snapshot)} order by l.position)
            from order_lines l ${sql.literal(catalogOf("l", "c"))} where l.order_id = c.id), '[]') as snapshots
        from orders c where c.id = ${orderId}::uuid and c.organization_id = ${yield* currentOrganization}`
      return order
    }, Effect.orDie)

    const returnUsage = (organization: string, orderId: OrderId, promotions: Array<string>) =>
      sql`with usages as (delete from promotion_usages
          where order_id = ${orderId}::uuid and promotion_id = any(${promotions}::uuid[])
          returning promotion_id, buyers),
        ${usageReturned(sql, organization)}
        select 1`

    const countUsage = (organization: string, order: Order, promotions: PricedCart["promotions"]) =>
      sql`with input as materialized (
          select 0 as n, ${order.id}::uuid as id, ${organization}::text as organization,
            ${order.customerId}::uuid as customer, ${JSON.stringify(promotions)}::jsonb as promotions),
        cart as (select 0 as n, (select email from orders where id = ${order.id}::uuid) as email),
        ${usage(sql)}
        select 1`

    /**
     * Writes order, lines, stock, promotion usage and event in one transaction. False when the order was edited, paid
     * or left pending meanwhile. Locks the order, its stock, then promotions, as a change of status does.
     */
    const write = Effect.fn("OrderEditRepo.write")(
      function*({ after, before, pricedCart, hold, revision, used }: OrderEdit) {
        const actor = yield* CurrentActor
        const updated = yield* orderUpdated(sql, actor, after, revision, pricedCart.taxProvider ?? null)
        if (updated.length === 0) return false
        yield* stock.change(hold)
        const applied = pricedCart.promotions.map(({ promotionId }) => promotionId)
        const removed = used.filter((id) => !applied.includes(id))
        const added = pricedCart.promotions.filter(({ promotionId }) => !used.includes(promotionId))
        if (removed.length > 0) yield* returnUsage(actor.organizationId, after.id, removed)
        if (added.length > 0) yield* countUsage(actor.organizationId, after, added)
        const change = {
          type: "orders.update",
          entityType: "order",
          entityId: after.id,
          payload: after,
          before
        } as const
        yield* sql`with event as (${changeLogInsert(sql, actor, [change])})${idempotencyRecord(sql, actor)} select 1`
        yield* updateProjections(projections, after.id)
        return true
      },
      sql.withTransaction,
      Effect.catchTag("SqlError", usageRefusal)
    )

    return { find, write }
  })
}) {}

export const orderEditRepoLayer = Layer.effect(OrderEditRepo, OrderEditRepo.make)
