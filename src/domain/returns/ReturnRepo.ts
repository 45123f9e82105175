import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { OrderNotFound } from "../orders/Order.ts"
import { unsentUnits } from "../orders/OrderStatements.ts"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type OrderId, OrderLineId, ReturnId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { Return, ReturnLine, ReturnNotFound, type ReturnStatus } from "./Return.ts"
import { SoldOrder } from "./ReturnedGoods.ts"

const lines =
  `(select coalesce(jsonb_agg(jsonb_build_object('lineItemId', l.id, 'title', l.title, 'variantTitle', l.variant_title,
    'sku', l.sku, 'quantity', x.quantity, 'reason', x.reason, 'receivedQuantity', x.received_quantity,
    'received', x.received) order by l.position), '[]')
  from order_return_lines x join order_lines_read l on l.id = x.order_line_id where x.return_id = order_returns.id)`

export const orderReturns = new Table("order_returns", Return, { computed: { lines }, unset: ["lines"] })

export const orderReturnLines = new Table(
  "order_return_lines",
  Schema.Struct({
    organizationId: Schema.String,
    returnId: ReturnId,
    orderLineId: OrderLineId,
    ...Struct.pick(ReturnLine.fields, ["quantity", "reason", "receivedQuantity", "received"])
  })
)

export interface ReturnFilter {
  readonly orderId?: OrderId | undefined
  readonly status?: ReturnStatus | undefined
}

const readSold = (sql: SqlClient.SqlClient, organization: string, orderId: OrderId) =>
  Effect.map(
    decoding(sql, SoldOrder)`select o.id as "orderId", o.order_number as "orderNumber", o.status,
        o.amount_captured is not null or o.grand_total = 0 as paid, o.placed_at as "placedAt",
        (select max(coalesce(f.delivered_at, f.shipped_at, f.created_at)) from fulfillments_read f
          where f.order_id = o.id and f.status not in ('cancelled', 'pending', 'processing')) as "deliveredAt",
        (select count(*)::int4 from order_returns r where r.order_id = o.id) as returns,
        coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'entityId', l.entity_id, 'variantId', l.variant_id,
            'entityType', l.entity_type, 'title', l.title, 'variantTitle', l.variant_title, 'sku', l.sku,
            'returnable', returnable_units(l.id),
            'restockable', l.quantity
              - (select coalesce(sum(x.restocked), 0) from refunds_read f join refund_lines_read x on x.refund_id = f.id
                where f.order_id = o.id and x.order_line_id = l.id)
              - (select coalesce(sum((unit->>'quantity')::int), 0) from order_return_lines x
                cross join jsonb_array_elements(x.received) unit
                where x.order_line_id = l.id and unit->>'disposition' = 'restock'),
            'unsent', ${sql.literal(unsentUnits)},
            'warehouseId', coalesce(
              (select m.warehouse_id from stock_movements_read m
                where m.organization_id = o.organization_id and m.reference_id = o.id::text
                  and m.reference_type = 'order' and m.type in ('fulfillment', 'sale')
                  and coalesce(m.variant_id, m.entity_id) = coalesce(l.variant_id, l.entity_id)
                group by m.warehouse_id order by sum(m.quantity), m.warehouse_id limit 1),
              (select w.id from warehouses_read w where w.organization_id = o.organization_id and w.is_active
                order by w.priority, w.id limit 1))) order by l.position)
          from order_lines_read l where l.order_id = o.id), '[]') as lines
      from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`,
    ([sold]) => sold
  )

const eventOf = (record: Return, before?: Return) => ({
  type: before === undefined ? "returns.create" as const : "returns.update" as const,
  entityType: "return" as const,
  entityId: record.id,
  payload: record,
  ...(before === undefined ? {} : { before })
})

const storedLine = ({ id, organizationId }: Return) => ({ lineItemId, ...line }: ReturnLine) => ({
  ...line,
  organizationId,
  returnId: id,
  orderLineId: lineItemId
})

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fnUntraced(function*(record: Return) {
    const actor = yield* CurrentActor
    yield* sql`with made as (
        insert into order_returns (${sql.literal(orderReturns.names)}) ${orderReturns.values(sql, [record])}),
      made_lines as (
        insert into order_return_lines (${sql.literal(orderReturnLines.names)})
        ${orderReturnLines.values(sql, record.lines.map(storedLine(record)))}),
      event as (${changeLogInsert(sql, actor, [eventOf(record)])})${idempotencyRecord(sql, actor)}
      select 1`
    return record
  })

  const update = Effect.fnUntraced(function*(before: Return, record: Return) {
    const actor = yield* CurrentActor
    yield* sql`with changed as (
        update order_returns set (${sql.literal(orderReturns.names)}) = (${orderReturns.values(sql, [record])})
        where id = ${record.id}::uuid and organization_id = ${actor.organizationId}),
      received as (
        update order_return_lines x set received_quantity = i.received_quantity, received = i.received
        from (${orderReturnLines.values(sql, record.lines.map(storedLine(record)))}) i
        where x.return_id = i.return_id and x.order_line_id = i.order_line_id),
      event as (${changeLogInsert(sql, actor, [eventOf(record, before)])})${idempotencyRecord(sql, actor)}
      select 1`
    return record
  })

  return { insert, update }
}

const reading = (sql: SqlClient.SqlClient) => {
  const find = Effect.fn("ReturnRepo.find")(function*(orderId: OrderId, id: ReturnId) {
    const [found] = yield* orderReturns.rows(sql)`select ${sql.literal(orderReturns.columns())} from order_returns
      where id = ${id}::uuid and order_id = ${orderId}::uuid and organization_id = ${yield* currentOrganization}`
    return found ?? (yield* new ReturnNotFound())
  }, Effect.catchIf(SqlError.isSqlError, Effect.die))

  const list = Effect.fn("ReturnRepo.list")(
    ({ orderId, status }: ReturnFilter, page: PageRequest) =>
      ownPage(
        sql,
        orderReturns,
        "created_at desc, id desc",
        page,
        [
          ...(orderId === undefined ? [] : [sql`order_id = ${orderId}::uuid`]),
          ...(status === undefined ? [] : [sql`status = ${status}`])
        ],
        orderId === undefined ? status === undefined ? "all" : [status] : undefined
      ),
    Effect.orDie
  )

  /** Units of each line that a return can ask for; empty without the order. */
  const returnable = Effect.fn("ReturnRepo.returnable")(function*(orderId: OrderId) {
    const sold = yield* readSold(sql, yield* currentOrganization, orderId)
    return (sold?.lines ?? []).map(({ id, returnable }) => ({ lineItemId: id, quantity: Math.max(0, returnable) }))
  }, Effect.orDie)

  /** Reads the address that an order's mails go to; null without one. */
  const emailOf = Effect.fn("ReturnRepo.emailOf")(function*(orderId: OrderId) {
    const [row] = yield* decoding(sql, Schema.Struct({ email: Schema.NullOr(Schema.String) }))`select o.email
      from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${yield* currentOrganization}`
    return row?.email ?? null
  }, Effect.orDie)

  return { find, list, returnable, emailOf }
}

/**
 * Returns of goods. Every write is one transaction that locks the order first, so that two requests never count the same
 * units (contract-commerce §12).
 */
export class ReturnRepo extends Context.Service<ReturnRepo>()("stoa/domain/returns/ReturnRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const transacted = <A, E, R>(work: Effect.Effect<A, E | SqlError.SqlError, R>) =>
      Effect.catchIf(sql.withTransaction(work), SqlError.isSqlError, Effect.die)

    const locked = Effect.fnUntraced(function*(orderId: OrderId) {
      const organization = yield* currentOrganization
      yield* sql`select 1 from orders_read where id = ${orderId}::uuid and organization_id = ${organization} for update`
      return (yield* readSold(sql, organization, orderId)) ?? (yield* new OrderNotFound())
    })

    const { insert, update } = writing(sql)
    const reads = reading(sql)

    const change = Effect.fn("ReturnRepo.change")(<A extends { readonly record: Return }, E, R>(
      orderId: OrderId,
      id: ReturnId,
      decide: (before: Return, sold: SoldOrder) => Effect.Effect<A, E, R>
    ) =>
      transacted(Effect.gen(function*() {
        const sold = yield* locked(orderId)
        const before = yield* reads.find(orderId, id)
        const decided = yield* decide(before, sold)
        yield* update(before, decided.record)
        return decided
      }))
    )

    return {
      ...reads,
      /** 404 without the order. */
      create: Effect.fn("ReturnRepo.create")(<E, R>(
        orderId: OrderId,
        decide: (sold: SoldOrder) => Effect.Effect<Return, E, R>
      ) => transacted(Effect.flatMap(Effect.flatMap(locked(orderId), decide), insert))),
      /** 404 without the order or the return. `decide` runs in the transaction. */
      change: <E, R>(
        orderId: OrderId,
        id: ReturnId,
        decide: (before: Return, sold: SoldOrder) => Effect.Effect<Return, E, R>
      ) =>
        Effect.map(
          change(orderId, id, (before, sold) => Effect.map(decide(before, sold), (record) => ({ record }))),
          ({ record }) => record
        ),
      /** The same for a decision about more than the return. */
      changeWith: change
    }
  })
}) {
  static readonly layer = Layer.effect(ReturnRepo, ReturnRepo.make)
}
