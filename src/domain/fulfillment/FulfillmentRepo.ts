import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { byActor, changeLog } from "../platform/events/ChangeLogRepo.ts"
import { CustomerId, EntityId, type FulfillmentId, newId, type OrderId } from "../platform/ids/Id.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { DigitalGrant, type Fulfillment, FulfillmentLine, Granted, present } from "./Fulfillment.ts"
import { deliveries, fulfillmentEvents, fulfillmentLines, StoredFulfillment } from "./FulfillmentTables.ts"

export const fulfillments = new Table(
  "fulfillments",
  Schema.Struct({
    ...StoredFulfillment.fields,
    customerId: Schema.NullOr(CustomerId),
    grant: Schema.Record(Schema.String, Schema.Unknown),
    lines: Schema.Array(
      Schema.Struct({ ...FulfillmentLine.fields, entityId: EntityId, entityType: Schema.String })
    )
  }),
  {
    computed: {
      customerId: "o.customer_id",
      grant: "f.metadata",
      lines: `coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'title', l.title,
          'variantTitle', l.variant_title, 'sku', l.sku,
          'quantity', fl.quantity, 'entityId', l.entity_id, 'entityType', l.entity_type) order by l.position)
        from fulfillment_lines fl join order_lines_read l on l.id = fl.order_line_id
        where fl.fulfillment_id = f.id and fl.organization_id = f.organization_id), '[]')`
    }
  }
)

const readGrant = Schema.decodeUnknownOption(DigitalGrant)

export const toFulfillment = (row: typeof fulfillments.schema.Type): Fulfillment => {
  const {
    createdAt,
    details,
    grant,
    id,
    lines,
    orderId,
    organizationId: _,
    status,
    taken: __,
    type,
    updatedAt,
    ...known
  } = row
  const only = lines.length === 1 ? lines[0] : undefined
  return {
    id,
    orderId,
    type,
    status,
    lineItems: lines.map(({ entityId: _, entityType: __, ...line }) => line),
    ...present({ ...known, metadata: details, entityType: only?.entityType, entityId: only?.entityId }),
    ...Option.getOrElse(readGrant(grant), () => ({})),
    createdAt,
    updatedAt
  }
}

const grantFields = new Set(Object.keys(DigitalGrant.fields))

const grantOf = (fulfillment: Fulfillment) =>
  Object.fromEntries(Object.entries(fulfillment).filter(([name]) => grantFields.has(name)))

const delivered = {
  row: deliveries.row("f"),
  insertion: deliveries.copy("r", {
    organizationId: "paid.organization_id",
    orderId: "paid.id",
    orderLineId: "line_id",
    metadata: "grant_of"
  })
}
const covered = fulfillmentLines.insertion({
  organizationId: "made.organization_id",
  fulfillmentId: "made.id",
  orderLineId: "made.order_line_id",
  quantity: "(f->'lineItems'->0->>'quantity')::int"
})

const file = `(select u from (select coalesce(
    (select v.metadata->>'downloadUrl' from variants_read v
      where v.id = l.variant_id and v.organization_id = l.organization_id),
    (select e.metadata->>'downloadUrl' from catalog_entities_read e
      where e.id = l.entity_id and e.organization_id = l.organization_id)) as u) named where u ~ '^https?://')`

const left = "greatest(0, coalesce((f.metadata->>'maxDownloads')::int - (f.metadata->>'downloadCount')::int, 0))"
const until = "(f.metadata->>'downloadExpiresAt')::timestamptz"
const valid = "o.status not in ('cancelled', 'refunded')"

export class FulfillmentRepo extends Context.Service<FulfillmentRepo>()("stoa/domain/fulfillment/FulfillmentRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const ofOrder = Effect.fn("FulfillmentRepo.ofOrder")(function*(orderId: OrderId, page: PageRequest) {
      const where = sql`f.order_id = ${orderId}::uuid and f.organization_id = ${yield* currentOrganization}`
      const [rows, [counted]] = yield* Effect.all([
        fulfillments.rows(sql)`select ${sql.literal(fulfillments.columns("f"))}
          from fulfillments f join orders_read o on o.id = f.order_id
          where ${where} order by f.created_at, f.id limit ${page.limit} offset ${offsetOf(page)}`,
        sql`select count(*) as total from fulfillments f where ${where}`
      ], { concurrency: "unbounded" })
      return { ...page, items: rows.map(toFulfillment), total: Number(counted?.["total"]) }
    }, Effect.orDie)

    const filesOf = Effect.fn("FulfillmentRepo.filesOf")(function*(orderId: OrderId, page: PageRequest) {
      const where = sql`l.order_id = ${orderId}::uuid and l.organization_id = ${yield* currentOrganization}
        and l.entity_type = 'digitalDownload'`
      const [items, [counted]] = yield* Effect.all([
        decoding(
          sql,
          Granted
        )`select l.id as "lineItemId", l.title, l.variant_title as "variantTitle", f.id as "fulfillmentId",
            ${sql.literal(file)} as file, ${sql.literal(left)} as remaining, ${sql.literal(until)} as "expiresAt",
            ${sql.literal(valid)} as valid
          from order_lines_read l join orders_read o on o.id = l.order_id
          left join fulfillments f on f.order_id = l.order_id and f.order_line_id = l.id
            and f.organization_id = l.organization_id
          where ${where} order by l.position limit ${page.limit} offset ${offsetOf(page)}`,
        sql`select count(*) as total from order_lines_read l where ${where}`
      ], { concurrency: "unbounded" })
      return { ...page, items, total: Number(counted?.["total"]) }
    }, Effect.orDie)

    /**
     * Uses one download; undefined when none is left. Concurrent calls never exceed the limit. The id comes from a
     * signed link, the credential, so there is no organization filter.
     */
    const takeFile = Effect.fn("FulfillmentRepo.takeFile")(function*(fulfillmentId: FulfillmentId, now: Date) {
      const rows = yield* decoding(sql, Schema.Struct({ file: Schema.String }))`update fulfillments f
        set updated_at = ${now}::timestamptz,
          metadata = jsonb_set(f.metadata, '{downloadCount}', to_jsonb((f.metadata->>'downloadCount')::int + 1))
        from orders_read o, order_lines l
        where f.id = ${fulfillmentId}::uuid and f.type = 'digital-download' and o.id = f.order_id
          and l.id = f.order_line_id and ${sql.literal(valid)} and ${sql.literal(left)} > 0
          and ${sql.literal(until)} > ${now}::timestamptz and ${sql.literal(file)} is not null
        returning ${sql.literal(file)} as file`
      return rows[0]?.file
    }, Effect.orDie)

    return { ofOrder, deliver: delivering(sql), filesOf, takeFile }
  })
}) {
  static readonly layer = Layer.effect(FulfillmentRepo, FulfillmentRepo.make)
}

/** Delivers lines without a fulfillment of paid orders and emits `fulfillment.create`, in one statement. */
const delivering = (sql: SqlClient.SqlClient) =>
  Effect.fn("FulfillmentRepo.deliver")(
    function*(orderId: OrderId, fulfillments: ReadonlyArray<Fulfillment>) {
      const actor = yield* CurrentActor
      const input = fulfillments.map((one) => ({ event: newId(), grant: grantOf(one), record: one }))
      // Lock the order first, so that a cancellation is either visible here or sees the fulfilled lines.
      const rows = yield* sql`with paid as materialized (
          select id, organization_id from orders where id = ${orderId}::uuid
            and organization_id = ${actor.organizationId} and amount_captured is not null and status <> 'cancelled'
          for update),
        input as materialized (
          select (i->>'event')::uuid as event_id, i->'record' as f, i->'grant' as grant_of,
            (i->'record'->'lineItems'->0->>'id')::uuid as line_id
          from jsonb_array_elements(${JSON.stringify(input)}::jsonb) i),
        made as (
          insert into fulfillments ${sql.literal(delivered.insertion)}
          from paid, input, ${sql.literal(delivered.row)} r order by line_id
          on conflict (order_line_id) do nothing returning id, organization_id, order_line_id),
        covered as (
          insert into fulfillment_lines ${sql.literal(covered)} from made join input on line_id = made.order_line_id),
        handed as (
          update order_lines l set fulfillment_status = 'fulfilled' from made where l.id = made.order_line_id),
        noted as (
          insert into fulfillment_events ${
        fulfillmentEvents.insert(sql, {
          id: "gen_random_uuid()",
          organizationId: "made.organization_id",
          fulfillmentId: "made.id",
          eventType: "'created'",
          fromStatus: "null",
          toStatus: "f->>'status'",
          description: "null",
          actorId: sql`${actor.userId ?? actor.keyId ?? null}::text`
        })
      } from made join input on line_id = made.order_line_id),
        announced as (
          insert into ${changeLog(sql)}
          select event_id, ${actor.organizationId}, 'fulfillment.create', 'fulfillment', made.id::text, f, null::jsonb,
            ${byActor(sql, actor)}
          from made join input on line_id = made.order_line_id)
        select id from made`
      const written = new Set(rows.map((row) => row["id"]))
      return fulfillments.filter(({ id }) => written.has(id))
    },
    Effect.orDie
  )
