import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { byActor, changeLog } from "../events/ChangeLogRepo.ts"
import { newId } from "../ids/Id.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import type { Fulfillment } from "./Fulfillment.ts"
import { fulfillmentColumns, type FulfillmentRow, grantOf, toFulfillment } from "./FulfillmentRows.ts"

/** Reads of fulfillments. */
export class FulfillmentRepo extends Context.Service<FulfillmentRepo>()("stoa/domain/fulfillment/FulfillmentRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    /** A page of the fulfillments of an order with their lines, oldest first, in two statements. */
    const ofOrder = Effect.fn("FulfillmentRepo.ofOrder")(function*(orderId: string, page: PageRequest) {
      const organization = yield* currentOrganization
      const where = sql`f.order_id = ${orderId}::uuid and f.organization_id = ${organization}`
      const count = sql<{ readonly total: bigint }>`select count(*) as total from fulfillments f where ${where}`
      const list = sql<FulfillmentRow>`select ${sql.literal(fulfillmentColumns)}
        from fulfillments f join orders_read o on o.id = f.order_id
        where ${where} order by f.created_at, f.id limit ${page.limit} offset ${offsetOf(page)}`
      const [rows, totals] = yield* Effect.all([list, count], { concurrency: "unbounded" })
      return { ...page, items: rows.map(toFulfillment), total: Number(totals[0]?.total ?? 0) }
    }, Effect.orDie)

    /**
     * Writes digital fulfillments of one line each, marks their lines fulfilled and emits `fulfillment.create`, in one
     * statement. Only for paid orders that are not cancelled, and for lines without a fulfillment. Returns what it wrote.
     */
    const deliver = Effect.fn("FulfillmentRepo.deliver")(
      function*(orderId: string, fulfillments: ReadonlyArray<Fulfillment>) {
        const actor = yield* CurrentActor
        const input = fulfillments.map((one) => ({ event: newId(), grant: grantOf(one), record: one }))
        // Lock the order first, so that a cancellation is either visible here or sees the fulfilled lines.
        const rows = yield* sql<{ readonly id: string }>`with paid as materialized (
            select id, organization_id from orders_read where id = ${orderId}::uuid
              and organization_id = ${actor.organizationId} and amount_captured is not null and status <> 'cancelled'
            for update),
          input as materialized (
            select (i->>'event')::uuid as event_id, i->'record' as f, i->'grant' as grant_of,
              (i->'record'->'lineItems'->0->>'id')::uuid as line_id
            from jsonb_array_elements(${JSON.stringify(input)}::jsonb) i),
          made as (
            insert into fulfillments (id, organization_id, order_id, order_line_id, type, status, metadata, created_at,
              updated_at)
            select (f->>'id')::uuid, paid.organization_id, paid.id, line_id, f->>'type', f->>'status', grant_of,
              (f->>'createdAt')::timestamptz, (f->>'updatedAt')::timestamptz
            from paid, input order by line_id
            on conflict (order_line_id) do nothing returning id, order_line_id),
          covered as (
            insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
            select ${actor.organizationId}, made.id, made.order_line_id, (f->'lineItems'->0->>'quantity')::int
            from made join input on line_id = made.order_line_id),
          handed as (
            update order_lines l set fulfillment_status = 'fulfilled' from made where l.id = made.order_line_id),
          noted as (
            insert into fulfillment_events (id, organization_id, fulfillment_id, event_type, to_status, actor_id)
            select gen_random_uuid(), ${actor.organizationId}, made.id, 'created', f->>'status',
              ${actor.userId ?? actor.keyId ?? null}::text
            from made join input on line_id = made.order_line_id),
          announced as (
            insert into ${changeLog(sql)}
            select event_id, ${actor.organizationId}, 'fulfillment.create', 'fulfillment', made.id::text, f, null::jsonb,
              ${byActor(sql, actor)}
            from made join input on line_id = made.order_line_id)
          select id from made`
        const written = new Set(rows.map(({ id }) => id))
        return fulfillments.filter(({ id }) => written.has(id))
      },
      Effect.orDie
    )
    return { ofOrder, deliver }
  })
}) {}

/** `FulfillmentRepo` over the database of the process. */
export const fulfillmentRepoLayer = Layer.effect(FulfillmentRepo, FulfillmentRepo.make)
