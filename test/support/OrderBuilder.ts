import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { systemActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, type OrderId, type OrderLineId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { theOrganization } from "./TestApp.ts"

/** A line of an order to be built; every line is another sellable. Amounts in minor units. */
export interface BuiltLine {
  /** Absent: one that the catalog does not have. */
  readonly entityId?: string
  readonly quantity?: number
  readonly unitPrice?: number
  readonly title?: string
  readonly sku?: string
  readonly fulfillmentStatus?: "unfulfilled" | "partial" | "fulfilled"
  readonly refundedQuantity?: number
}

export interface OrderSpec {
  readonly organizationId?: string
  readonly orderNumber?: string
  readonly status?: string
  /** null: not captured. Absent: the whole total was. */
  readonly captured?: number | null
  readonly lines?: ReadonlyArray<BuiltLine>
  /** What shipping costs; default nothing. */
  readonly shipping?: number
  readonly customerId?: string
  /** The secret itself; its hash is stored. */
  readonly cartSecret?: string
  readonly placedAt?: Date
  /** Default: a payment of the built-in test provider over the whole total. null: paid otherwise. */
  readonly intentId?: string | null
  readonly provider?: string
  /** Each line's stock in one warehouse, with the line's units reserved by the order. Absent: no stock is kept. */
  readonly onHand?: number
}

export interface BuiltOrder {
  readonly id: OrderId
  readonly organizationId: string
  readonly orderNumber: string
  readonly grandTotal: number
  readonly intentId: string | null
  readonly warehouseId: string | null
  readonly lines: ReadonlyArray<{ readonly id: OrderLineId; readonly entityId: string; readonly quantity: number }>
}

/** An actor that may do everything in an organization. */
export const manager = (organizationId = "org_default"): Actor => systemActor(organizationId, "manager")

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const addStock = Effect.fnUntraced(function*(
  orderId: string,
  organizationId: string,
  onHand: number,
  lines: BuiltOrder["lines"]
) {
  const sql = yield* SqlClient.SqlClient
  const warehouseId = newId()
  yield* sql`insert into organizations (id, name, slug) values (${organizationId}, ${organizationId}, ${organizationId})
    on conflict do nothing`
  yield* sql`insert into warehouses (id, organization_id, name, code)
    values (${warehouseId}::uuid, ${organizationId}, 'Built', ${warehouseId})`
  yield* sql`insert into holds (organization_id, holder, state) values (${organizationId}, ${orderId}, 'sold')`
  for (const { entityId, quantity } of lines) {
    yield* sql`insert into stock_items (organization_id, sellable_id) values (${organizationId}, ${entityId}::uuid)`
    yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand, reserved)
      values (${newId()}::uuid, ${organizationId}, ${entityId}::uuid, ${warehouseId}::uuid, ${entityId}::uuid, ${onHand},
        ${quantity})`
    yield* sql`insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
      values (${organizationId}, ${orderId}, ${entityId}::uuid, ${warehouseId}::uuid, ${quantity})`
  }
  return warehouseId
})

let built = 0

/** Inserts an order as the checkout leaves it, in any status. */
export const buildOrder = (spec: OrderSpec = {}) => Effect.orDie(insertOrder(spec))

const insertOrder = Effect.fnUntraced(function*(spec: OrderSpec) {
  const sql = yield* SqlClient.SqlClient
  const id = newId<OrderId>()
  const organizationId = spec.organizationId ?? (yield* theOrganization)
  const lines = (spec.lines ?? [{}]).map((line) => ({
    id: newId<OrderLineId>(),
    entityId: line.entityId ?? newId(),
    quantity: line.quantity ?? 1,
    unitPrice: line.unitPrice ?? 1_000,
    title: line.title ?? "A thing",
    sku: line.sku ?? null,
    fulfillmentStatus: line.fulfillmentStatus ?? "unfulfilled",
    refundedQuantity: line.refundedQuantity ?? 0
  }))
  const subtotal = lines.reduce((sum, line) => sum + line.unitPrice * line.quantity, 0)
  const shipping = spec.shipping ?? 0
  const total = subtotal + shipping
  built += 1
  const orderNumber = spec.orderNumber ?? `ORD-2020-${String(built).padStart(6, "0")}`
  const intentId = spec.intentId === undefined ? `pi_test_ok_usd_${total}_${sha256(id).slice(0, 24)}` : spec.intentId
  yield* sql`insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total, amount_captured, payment_intent_id, payment_method_id,
      payment_provider, cart_secret_hash, placed_at)
    values (${id}::uuid, ${organizationId}, ${orderNumber}, ${spec.customerId ?? null}::uuid,
      ${spec.status ?? "pending"}, 'USD', ${subtotal}, 0, ${shipping}, 0, ${total},
      ${spec.captured === undefined ? total : spec.captured}, ${intentId}, 'test',
      ${intentId === null ? null : spec.provider ?? "test"},
      ${spec.cartSecret === undefined ? null : sha256(spec.cartSecret)}, ${spec.placedAt ?? new Date()})`
  for (const [position, line] of lines.entries()) {
    yield* sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, sku, title,
        quantity, unit_price, total_price, fulfillment_status, refunded_quantity)
      values (${line.id}::uuid, ${organizationId}, ${id}::uuid, ${position}, ${line.entityId}::uuid, 'product',
        ${line.sku}, ${line.title}, ${line.quantity}, ${line.unitPrice}, ${line.unitPrice * line.quantity},
        ${line.fulfillmentStatus}, ${line.refundedQuantity})`
  }
  const warehouseId = spec.onHand === undefined ? null : yield* addStock(id, organizationId, spec.onHand, lines)
  const order: BuiltOrder = { id, organizationId, orderNumber, grandTotal: total, intentId, warehouseId, lines }
  return order
})

/** On hand and reserved units of a line's sellable, its version, and the state of the order's hold. */
export const stockOf = (order: BuiltOrder, line = 0) => Effect.orDie(readStock(order, line))

const readStock = Effect.fnUntraced(function*(order: BuiltOrder, line: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ on_hand: number; reserved: number; version: bigint; hold: string }>`
    select l.on_hand, l.reserved, i.version, h.state as hold
    from stock_levels l join stock_items i using (organization_id, sellable_id)
    join holds h on h.organization_id = l.organization_id and h.holder = ${order.id}
    where l.organization_id = ${order.organizationId} and l.sellable_id = ${order.lines[line]?.entityId ?? null}::uuid`
  const row = rows[0]
  return row === undefined
    ? undefined
    : { onHand: row.on_hand, reserved: row.reserved, version: Number(row.version), hold: row.hold }
})

/** Inserts an order into the database of the running service. */
export const orderInApp = (spec: OrderSpec = {}) =>
  onDatabase((sql) => Effect.provideService(buildOrder(spec), SqlClient.SqlClient, sql))

/** `stockOf` in the database of the running service. */
export const stockInApp = (order: BuiltOrder, line = 0) =>
  onDatabase((sql) => Effect.provideService(stockOf(order, line), SqlClient.SqlClient, sql))
