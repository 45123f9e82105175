import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../ids/Id.ts"
import type { StockAllocation } from "../inventory/StockRules.ts"
import type { Fulfillment } from "./Fulfillment.ts"
import type { ChangePlan } from "./ShipmentChanges.ts"
import type { CoveredLine, ShipmentPlan } from "./ShipmentRules.ts"

/** Updates the order's lines after a fulfillment; the order's row must be locked. */
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

const actorId = (actor: Actor) => actor.userId ?? actor.keyId ?? null

/** Writes a fulfillment with its lines, its history and the event `fulfillment.create`, in one statement. */
export const insertShipment = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  { lines, record }: ShipmentPlan,
  taken: ReadonlyArray<StockAllocation>,
  marked: boolean
) =>
  sql`with made as (
      insert into fulfillments (id, organization_id, order_id, type, status, carrier, tracking_number, tracking_url,
        estimated_delivery, shipped_at, delivered_at, details, taken, created_at, updated_at)
      values (${record.id}::uuid, ${actor.organizationId}, ${record.orderId}::uuid, ${record.type}, ${record.status},
        ${record.carrier ?? null}, ${record.trackingNumber ?? null}, ${record.trackingUrl ?? null},
        ${record.estimatedDelivery ?? null}::timestamptz, ${record.shippedAt ?? null}::timestamptz,
        ${record.deliveredAt ?? null}::timestamptz,
        ${record.metadata === undefined ? null : JSON.stringify(record.metadata)}::jsonb,
        ${JSON.stringify(taken)}::jsonb, ${record.createdAt}::timestamptz, ${record.updatedAt}::timestamptz)),
    covered as (
      insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
      select ${actor.organizationId}, ${record.id}::uuid, id, quantity
      from unnest(${lines.map(({ id }) => id)}::uuid[], ${
    lines.map(({ quantity }) => quantity)
  }::int4[]) i(id, quantity)),
    handed as (${linesMoved(sql, record, lines)}),
    noted as (
      insert into fulfillment_events (id, organization_id, fulfillment_id, event_type, to_status, actor_id)
      values (${newId()}::uuid, ${actor.organizationId}, ${record.id}::uuid, 'created', ${record.status},
        ${actorId(actor)})),
    recorded as (${changeLogInsert(sql, actor, [entryOf("fulfillment.create", record)])})${
    marked ? idempotencyRecord(sql, actor) : sql.literal("")
  }
    select 1`

/** Writes a change of a fulfillment with its history and its change log entry, in one statement. */
export const updateShipment = (sql: SqlClient.SqlClient, actor: Actor, before: Fulfillment, plan: ChangePlan) => {
  const { description, eventType, lines, record } = plan
  return sql`with changed as (
      update fulfillments set status = ${record.status}, carrier = ${record.carrier ?? null},
        tracking_number = ${record.trackingNumber ?? null}, tracking_url = ${record.trackingUrl ?? null},
        estimated_delivery = ${record.estimatedDelivery ?? null}::timestamptz,
        shipped_at = ${record.shippedAt ?? null}::timestamptz, delivered_at = ${
    record.deliveredAt ?? null
  }::timestamptz,
        taken = case when ${plan.back.length > 0}::boolean then '[]' else taken end,
        updated_at = ${record.updatedAt}::timestamptz
      where id = ${record.id}::uuid and organization_id = ${actor.organizationId}),
    handed as (${linesMoved(sql, record, lines)}),
    noted as (
      insert into fulfillment_events (id, organization_id, fulfillment_id, event_type, from_status, to_status,
        description, actor_id)
      values (${newId()}::uuid, ${actor.organizationId}, ${record.id}::uuid, ${eventType}, ${before.status},
        ${record.status}, ${description}, ${actorId(actor)})),
    recorded as (${changeLogInsert(sql, actor, [entryOf("fulfillment.update", record, before)])})${
    idempotencyRecord(sql, actor)
  }
    select 1`
}
