import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { changeLogInsert } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import type { Order } from "../Order.ts"
import { orderRecordJson } from "./OrderRecordJson.ts"
import type { NumberCounter, OwnNumber } from "./OwnNumber.ts"

/** What is stored under a number: what an export writes of it. */
export interface StoredRecord {
  readonly isDraft: boolean
  readonly record: Readonly<Record<string, unknown>>
}

/** What a batch of orders starts from. */
export interface OrderBatchState {
  /** The clock of the database. */
  readonly now: Date
  /** By number. */
  readonly orders: ReadonlyMap<string, StoredRecord>
  /** By year. */
  readonly counters: ReadonlyMap<number, NumberCounter>
}

/** An order to be written. */
export interface ImportedOrder {
  readonly order: Order
  readonly email: string | null
  /** The number's parts if it has this store's format. */
  readonly own: OwnNumber | undefined
  /** Of the shipping, what was given back; minor units. */
  readonly refundedShipping: number
  /** What the refunded units of each line were worth, in the order of the lines. */
  readonly refundedValues: ReadonlyArray<number>
}

/** Batches of orders imported from another system. */
export class OrderBatchRepo extends Context.Service<OrderBatchRepo, {
  /**
   * Existing orders with these numbers, in two statements. Locks the counters of their years until the transaction
   * ends, so that no process gets a number the batch imports.
   */
  readonly read: (
    numbers: ReadonlyArray<string>,
    years: ReadonlyArray<number>
  ) => Effect.Effect<OrderBatchState, never, CurrentActor>
  /**
   * Writes orders, lines, history, counters and change log in one statement; dies if another request took a number
   * first.
   */
  readonly write: (orders: ReadonlyArray<ImportedOrder>) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/orders/import-export/OrderBatchRepo") {
  static readonly layer = Layer.effect(
    OrderBatchRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({ read: makeRead(sql), write: makeWrite(sql) }))
  )
}

interface CounterRow {
  readonly now: Date
  readonly year: number | null
  readonly given: bigint | null
  readonly skipped: ReadonlyArray<readonly [number, number]> | null
}

const makeRead = (sql: SqlClient.SqlClient): OrderBatchRepo["Service"]["read"] =>
  Effect.fn("OrderBatchRepo.read")(function*(numbers, years) {
    const organization = yield* currentOrganization
    // In the order of the years, so that two imports wait for one another and never in a circle.
    const counters = yield* sql<CounterRow>`with held as (
        insert into order_counters as c (organization_id, year, last_number)
        select ${organization}, y, 0 from unnest(${years}::int[]) y order by y
        on conflict (organization_id, year) do update set last_number = c.last_number
        returning year, last_number as given, (select coalesce(jsonb_agg(jsonb_build_array(lower(r), upper(r) - 1)), '[]')
          from unnest(c.skipped) r) as skipped)
      select now() as now, held.* from (select 1) one left join held on true`
    // A separate statement after the lock sees all orders created before it.
    const stored = yield* sql<StoredRecord & { readonly number: string }>`select o.order_number as number,
        o.is_draft as "isDraft", ${sql.literal(orderRecordJson("o"))} as record
      from orders o where o.organization_id = ${organization} and o.order_number = any(${numbers}::text[])`.unprepared
    return {
      now: counters[0]?.now ?? new Date(0),
      orders: new Map(stored.map(({ number, ...order }) => [number, order])),
      counters: new Map(
        counters.flatMap(({ given, skipped, year }) =>
          year === null ? [] : [[year, { year, given: Number(given), skipped: skipped ?? [] }]]
        )
      )
    }
  }, Effect.orDie)

const importedEntry = ({ order }: ImportedOrder) =>
  ({ type: "orders.import", entityType: "order", entityId: order.id, payload: order }) as const

const inputOf = ({ email, order, own, refundedShipping, refundedValues }: ImportedOrder) => ({
  o: { ...order, lineItems: order.lineItems.map((line, index) => ({ ...line, refundedValue: refundedValues[index] })) },
  email,
  shipping: refundedShipping,
  year: own?.year ?? null,
  sequence: own?.sequence ?? null,
  history: newId()
})

const makeWrite = (sql: SqlClient.SqlClient): OrderBatchRepo["Service"]["write"] =>
  Effect.fn("OrderBatchRepo.write")(function*(orders) {
    if (orders.length === 0) return
    const actor = yield* CurrentActor
    const of = actor.organizationId
    yield* sql`with input as materialized (
        select i.*, (i.o->>'id')::uuid as id from jsonb_to_recordset(${JSON.stringify(orders.map(inputOf))}::jsonb)
          as i(o jsonb, email text, shipping bigint, year int, sequence bigint, history uuid)),
      made as (insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
          tax_included, shipping_total, discount_total, grand_total, amount_captured, refunded_total, refunded_shipping,
          email, shipping_address, metadata, placed_at, updated_at, fulfilled_at, cancelled_at, imported_at)
        select id, ${of}, o->>'orderNumber', (o->>'customerId')::uuid, o->>'status', o->>'currency',
          (o->>'subtotal')::bigint, (o->>'taxTotal')::bigint, (o->>'taxIncluded')::boolean,
          (o->>'shippingTotal')::bigint, (o->>'discountTotal')::bigint, (o->>'grandTotal')::bigint,
          (o->>'amountCaptured')::bigint, (o->>'refundedTotal')::bigint, shipping, email,
          nullif(o->'shippingAddress', 'null'), o->'metadata', (o->>'placedAt')::timestamptz,
          (o->>'updatedAt')::timestamptz, (o->>'fulfilledAt')::timestamptz, (o->>'cancelledAt')::timestamptz,
          (o->>'importedAt')::timestamptz from input),
      lines as (insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku,
          title, quantity, unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity,
          refunded_value, fulfillment_status, metadata)
        select (l->>'id')::uuid, ${of}, i.id, place, (l->>'entityId')::uuid, l->>'entityType',
          (l->>'variantId')::uuid, l->>'sku', l->>'title', (l->>'quantity')::int, (l->>'unitPrice')::bigint,
          (l->>'totalPrice')::bigint, false, (l->>'taxAmount')::bigint, (l->>'discountAmount')::bigint,
          (l->>'refundedQuantity')::int, (l->>'refundedValue')::bigint, l->>'fulfillmentStatus', '{}'
        from input i, jsonb_array_elements(i.o->'lineItems') with ordinality t(l, place)),
      history as (insert into order_status_history
          (id, organization_id, order_id, from_status, to_status, reason, changed_by)
        select history, ${of}, id, o->>'status', o->>'status', 'imported', ${actor.userId ?? null}::text from input),
      counted as (update order_counters c set imported_to = greatest(c.imported_to, x.highest)
        from (select year, max(sequence) as highest from input where year is not null group by year) x
        where c.organization_id = ${of} and c.year = x.year),
      entries as (${changeLogInsert(sql, actor, orders.map(importedEntry))})
      select 1`
  }, Effect.orDie)
