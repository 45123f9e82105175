import { Context, DateTime, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { OrderStock } from "../inventory/Inventory.ts"
import type { StockAllocation } from "../inventory/StockRules.ts"
import { OrderNotFound } from "../orders/Order.ts"
import { waitingUnits } from "../orders/OrderStatements.ts"
import { Handover } from "../orders/OrderStatus.ts"
import { withWaiting } from "../orders/ShownOrder.ts"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type FulfillmentId, newId, type OrderId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import type { Fulfillment } from "./Fulfillment.ts"
import { fulfillments, toFulfillment } from "./FulfillmentRepo.ts"
import { fulfillmentEvents, fulfillmentLines, shipments, type StoredFulfillment } from "./FulfillmentTables.ts"
import type { ChangePlan, StoredShipment } from "./ShipmentChanges.ts"
import { type CoveredLine, FulfillableLine, OrderGoods, planRest, type ShipmentPlan } from "./ShipmentRules.ts"

class FulfillmentNotFound extends notFound("Fulfillment", "Fulfillment not found.") {}

const StoredGoods = Schema.Struct({
  ...OrderGoods.fields,
  lines: Schema.Array(Schema.Struct(Struct.omit(FulfillableLine.fields, ["backordered"]))),
  waiting: Schema.NullOr(Schema.Record(Schema.String, Schema.Int))
})

const readGoods = (sql: SqlClient.SqlClient, organization: string, orderId: OrderId) =>
  Effect.map(
    decoding(sql, StoredGoods)`select o.id as "orderId", o.status,
        o.amount_captured is not null or o.grand_total = 0 as paid, o.customer_id as "customerId",
        ${
      sql.literal(waitingUnits)
    } as waiting, coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'entityId', l.entity_id, 'entityType', l.entity_type,
            'variantId', l.variant_id, 'sku', l.sku, 'title', l.title, 'variantTitle', l.variant_title, 'quantity', l.quantity,
            'refundedQuantity', l.refunded_quantity, 'fulfillmentStatus', l.fulfillment_status,
            'covered', coalesce(c.units, 0), 'returned', coalesce((select sum(x.received_quantity)
              from order_return_lines_read x where x.order_line_id = l.id), 0)) order by l.position)
          from order_lines_read l left join (select fl.order_line_id, sum(fl.quantity)::int4 as units
            from fulfillments f join fulfillment_lines fl on fl.fulfillment_id = f.id
            where f.order_id = ${orderId}::uuid and f.organization_id = ${organization} and f.status <> 'cancelled'
            group by fl.order_line_id) c on c.order_line_id = l.id
          where l.order_id = o.id and l.organization_id = o.organization_id), '[]') as lines
      from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`,
    ([found]): OrderGoods | undefined => {
      if (found === undefined) return undefined
      const { waiting, ...goods } = found
      return { ...goods, lines: withWaiting(goods.lines, waiting) }
    }
  )

const linesMoved = (sql: SqlClient.SqlClient, record: Fulfillment, lines: ReadonlyArray<CoveredLine>) =>
  sql`update order_lines l set fulfillment_status = i.status
    from unnest(${lines.map(({ id }) => id)}::uuid[], ${lines.map(({ status }) => status)}::text[]) i(id, status)
    where l.id = i.id and l.order_id = ${record.orderId}::uuid`

const entryOf = (type: "fulfillment.create" | "fulfillment.update", record: Fulfillment, before?: Fulfillment) => ({
  type,
  entityType: "fulfillment" as const,
  entityId: record.id,
  payload: record,
  ...(before === undefined ? {} : { before })
})

const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  record: Fulfillment,
  { description, eventType, fromStatus }: {
    readonly eventType: string
    readonly fromStatus: string | null
    readonly description: string | null
  }
) =>
  fulfillmentEvents.insert(sql, {
    id: sql`${newId()}::uuid`,
    organizationId: sql`${actor.organizationId}`,
    fulfillmentId: sql`${record.id}::uuid`,
    eventType: sql`${eventType}`,
    fromStatus: sql`${fromStatus}`,
    toStatus: sql`${record.status}`,
    description: sql`${description}`,
    actorId: sql`${actor.userId ?? actor.keyId ?? null}`
  })

const rowOf = (
  record: Fulfillment,
  { organizationId }: Actor,
  taken: ReadonlyArray<StockAllocation>
): typeof StoredFulfillment.Type => ({
  id: record.id,
  organizationId,
  orderId: record.orderId,
  type: record.type,
  status: record.status,
  carrier: record.carrier ?? null,
  trackingNumber: record.trackingNumber ?? null,
  trackingUrl: record.trackingUrl ?? null,
  estimatedDelivery: record.estimatedDelivery ?? null,
  shippedAt: record.shippedAt ?? null,
  deliveredAt: record.deliveredAt ?? null,
  details: record.metadata ?? null,
  taken,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt
})

const insertShipment = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  { lines, record }: ShipmentPlan,
  taken: ReadonlyArray<StockAllocation>,
  marked: boolean
) =>
  sql`with made as (
      insert into fulfillments (${sql.literal(shipments.names)})
      ${shipments.values(sql, [rowOf(record, actor, taken)])}),
    covered as (
      insert into fulfillment_lines ${
    fulfillmentLines.insert(sql, {
      organizationId: sql`${actor.organizationId}`,
      fulfillmentId: sql`${record.id}::uuid`,
      orderLineId: "id",
      quantity: "quantity"
    })
  } from unnest(${lines.map(({ id }) => id)}::uuid[], ${
    lines.map(({ quantity }) => quantity)
  }::int4[]) i(id, quantity)),
    handed as (${linesMoved(sql, record, lines)}),
    noted as (
      insert into fulfillment_events ${
    noted(sql, actor, record, { eventType: "created", fromStatus: null, description: null })
  }),
    recorded as (${changeLogInsert(sql, actor, [entryOf("fulfillment.create", record)])})${
    marked ? idempotencyRecord(sql, actor) : sql.literal("")
  }
    select 1`

const updateShipment = (sql: SqlClient.SqlClient, actor: Actor, before: StoredShipment, plan: ChangePlan) => {
  const { back, description, eventType, lines, record } = plan
  const row = rowOf(record, actor, back.length > 0 ? [] : before.taken)
  return sql`with changed as (
      update fulfillments set (${sql.literal(shipments.names)}) = (${shipments.values(sql, [row])})
      where id = ${record.id}::uuid and organization_id = ${actor.organizationId}),
    handed as (${linesMoved(sql, record, lines)}),
    noted as (
      insert into fulfillment_events ${
    noted(sql, actor, record, { eventType, fromStatus: before.record.status, description })
  }),
    recorded as (${changeLogInsert(sql, actor, [entryOf("fulfillment.update", record, before.record)])})${
    idempotencyRecord(sql, actor)
  }
    select 1`
}

export const lockOrder = (sql: SqlClient.SqlClient, organization: string, orderId: OrderId) =>
  sql`select 1 from orders_read where id = ${orderId}::uuid and organization_id = ${organization} for update`

const locked = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, organization: string, orderId: OrderId) {
  yield* lockOrder(sql, organization, orderId)
  return (yield* readGoods(sql, organization, orderId)) ?? (yield* new OrderNotFound())
})

/**
 * Fulfillments by staff. Each write is one transaction that locks the order, then its hold, then its stock, as a status
 * change does. A constant number of statements.
 */
export class ShipmentRepo extends Context.Service<ShipmentRepo>()("stoa/domain/fulfillment/ShipmentRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const stock = yield* OrderStock

    const goodsOf = Effect.fn("ShipmentRepo.goodsOf")(function*(orderId: OrderId) {
      return yield* readGoods(sql, yield* currentOrganization, orderId)
    }, Effect.orDie)

    const transacted = <A, E, R>(body: Effect.Effect<A, E | SqlError.SqlError, R>) =>
      sql.withTransaction(body).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.catchIf(SqlError.isSqlError, Effect.die)
      )

    return {
      goodsOf,
      /**
       * Writes the plan for the locked order: takes stock, writes the fulfillment, then runs `move` (the order's
       * status) and `beside`. The idempotency record is written with the fulfillment if it is `marked`, else by
       * `beside`. 404 without an order.
       */
      make: Effect.fn("ShipmentRepo.make")(<A, E, E2, E3, R, R3>(
        orderId: OrderId,
        plan: (goods: OrderGoods) => Effect.Effect<ShipmentPlan | undefined, E>,
        move: Effect.Effect<void, E2, R>,
        beside: (made: Fulfillment | undefined) => Effect.Effect<A, E3, R3>,
        marked: boolean
      ) =>
        transacted(Effect.gen(function*() {
          const actor = yield* CurrentActor
          const decided = yield* plan(yield* locked(sql, actor.organizationId, orderId))
          if (decided !== undefined) {
            const taken = yield* stock.handOver(orderId, decided.demand)
            yield* insertShipment(sql, actor, decided, taken, marked)
            yield* move
          }
          return { made: decided?.record, result: yield* beside(decided?.record) }
        }))
      ),
      change: Effect.fn("ShipmentRepo.change")(<E>(
        orderId: OrderId,
        fulfillmentId: FulfillmentId,
        plan: (goods: OrderGoods, stored: StoredShipment) => Effect.Effect<ChangePlan | undefined, E>
      ) =>
        transacted(Effect.gen(function*() {
          const actor = yield* CurrentActor
          const goods = yield* locked(sql, actor.organizationId, orderId)
          const [row] = yield* fulfillments.rows(sql)`select ${sql.literal(fulfillments.columns("f"))}
            from fulfillments f join orders_read o on o.id = f.order_id
            where f.id = ${fulfillmentId}::uuid and f.order_id = ${orderId}::uuid
              and f.organization_id = ${actor.organizationId}`
          if (row === undefined) return yield* new FulfillmentNotFound()
          const before = { record: toFulfillment(row), taken: row.taken }
          const decided = yield* plan(goods, before)
          if (decided === undefined) return before.record
          yield* stock.returnToHold(goods.orderId, decided.back)
          yield* updateShipment(sql, actor, before, decided)
          return decided.record
        }))
      )
    }
  })
}) {
  static readonly layer = Layer.effect(ShipmentRepo, ShipmentRepo.make)
}

const Units = Schema.Struct({ sellable: Schema.String, quantity: Schema.Int })

export const handoverLayer = Layer.effect(
  Handover,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Handover.of({
      rest: Effect.fn("Handover.rest")(function*(orderId: OrderId) {
        const actor = yield* CurrentActor
        const goods = yield* readGoods(sql, actor.organizationId, orderId)
        if (goods === undefined) return
        const plan = yield* Effect.fromResult(planRest(goods, DateTime.toDateUtc(yield* DateTime.now)))
        if (plan !== undefined) yield* insertShipment(sql, actor, plan, [], false)
      }, Effect.catchIf(SqlError.isSqlError, Effect.die)),
      // Fulfilled lines without a shipment: digital goods with stock leave it when their order ends.
      unshelved: Effect.fn("Handover.unshelved")(function*(orderId: OrderId) {
        return yield* decoding(sql, Units)`select coalesce(l.variant_id, l.entity_id) as sellable,
            sum(l.quantity)::int4 as quantity
          from order_lines_read l
          where l.order_id = ${orderId}::uuid and l.organization_id = ${yield* currentOrganization}
            and l.fulfillment_status = 'fulfilled'
            and not exists (select 1 from fulfillments f join fulfillment_lines fl on fl.fulfillment_id = f.id
              where f.order_id = ${orderId}::uuid and fl.order_line_id = l.id and f.order_line_id is null
                and f.status <> 'cancelled')
          group by 1`
      }, Effect.orDie)
    }))
)
