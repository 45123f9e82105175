import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { lineDetails } from "../carts/Line.ts"
import { blankCustomer, type Customer, CustomerNotFound } from "../customers/Customer.ts"
import { customers } from "../customers/CustomerRepo.ts"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import type { Change } from "../platform/events/Event.ts"
import { redactChangeLog } from "../platform/events/EventRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { CartId, type CustomerId, OrderId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { columnOf, columnsOf } from "../platform/records/Table.ts"
import { AskedBack, GivenBack, HandedOver, IssuedDocument, OrdersOpen, WrittenNote } from "./PersonalData.ts"
import { personalRecords } from "./PersonalRecords.ts"

export class PersonalDataRepo extends Context.Service<PersonalDataRepo>()("stoa/domain/privacy/PersonalDataRepo", {
  make: Effect.map(Effect.all([SqlClient.SqlClient, personalRecords]), ([sql, records]) => {
    /** The records of a customer's orders: five statements for any number of orders; the newest `limit` of each kind. */
    const orderRecords = Effect.fn("PersonalDataRepo.orderRecords")(function*(customerId: CustomerId, limit: number) {
      const organization = yield* currentOrganization
      const newest = <A>(
        table: string,
        record: Schema.Codec<A, unknown> & { readonly fields: Readonly<Record<string, unknown>> },
        order: string
      ) =>
        decoding(sql, record)`select ${sql.literal(columnsOf(record.fields, "x"))} from ${sql(table)} x
          where x.organization_id = ${organization} and x.order_id = any(array(select id from orders_read
            where customer_id = ${customerId}::uuid and organization_id = ${organization}))
          order by ${sql.literal(order)} limit ${limit}`
      return {
        notes: yield* newest("order_notes_read", WrittenNote, "x.created_at desc, x.id desc"),
        refunds: yield* newest("refunds_read", GivenBack, "x.created_at desc, x.id desc"),
        fulfillments: yield* newest("fulfillments_read", HandedOver, "x.created_at desc, x.id desc"),
        returns: yield* newest("order_returns_read", AskedBack, "x.created_at desc, x.id desc"),
        invoices: yield* newest("invoices_read", IssuedDocument, "x.issued_at desc, x.number desc")
      }
    }, Effect.orDie)

    /** Rows of plugins about a customer: the newest `limit` of each table. */
    const pluginRecords = Effect.fn("PersonalDataRepo.pluginRecords")(
      function*({ id: customerId, userId }: Pick<Customer, "id" | "userId">, limit: number) {
        const organization = yield* currentOrganization
        const orders = yield* decoding(sql, Schema.Struct({ id: OrderId }))`select id from orders_read
          where customer_id = ${customerId}::uuid and organization_id = ${organization}`
        return yield* records.exported({ customerId, userId, orderIds: orders.map(({ id }) => id) }, limit)
      },
      Effect.orDie
    )

    /**
     * Erases the person behind a profile in one transaction: deletes addresses, notes and groups, and redacts profile,
     * orders, carts, rows of plugins and change log entries. Emits `customers.update` with the rest, which it returns. 404; 409 with the
     * numbers of open orders while something is still to be paid or shipped or a checkout is under way.
     */
    const erase = Effect.fn("PersonalDataRepo.erase")(
      function*(customerId: CustomerId, now: Date) {
        // The change log entry of the erasure drops the origin as well.
        const actor: Actor = { ...yield* CurrentActor, ip: null, userAgent: null }
        const { organizationId } = actor
        yield* records.takeTurns
        const [profile] = yield* customers.rows(sql)`select ${sql.literal(customers.columns())} from customers
          where id = ${customerId}::uuid and organization_id = ${organizationId} and erased_at is null for update`
        if (profile === undefined) return yield* new CustomerNotFound()
        const orderIds = yield* locked(sql, "orders", OrderId, actor, profile.id)
        const cartIds = yield* locked(sql, "carts", CartId, actor, profile.id)
        const open = yield* underWay(sql, actor, profile.id)
        if (open.length > 0) return yield* new OrdersOpen(open.filter((number) => number !== ""))
        const own = yield* eraseOwn(sql, actor, profile, now)
        yield* anonymize(sql, actor, { orderIds, cartIds }, now)
        const actorId = profile.userId ?? profile.id
        const others = yield* recordsOf(sql, actor, orderIds)
        const redaction = { organizationId, customerId, orderIds, cartIds, others, actorId }
        yield* redactChangeLog(sql, redaction)
        const erased = yield* records.erase({ customerId, userId: profile.userId, orderIds })
        const left: Customer = {
          ...blankCustomer({ id: customerId, organizationId, userId: null, now }),
          createdAt: profile.createdAt
        }
        const { groupIds, updatedAt, userId } = profile
        const about = { entityType: "customer", entityId: customerId } as const
        const counts = { ...erased, ...own, orders: orderIds.length, carts: cartIds.length }
        const changes: ReadonlyArray<Change> = [
          { ...about, type: "customers.update", payload: left, before: { ...left, userId, groupIds, updatedAt } },
          { ...about, type: "customers.delete", payload: counts, before: counts }
        ]
        yield* sql`with event as (${changeLogInsert(sql, actor, changes)})${idempotencyRecord(sql, actor)} select 1`
        return left
      },
      sql.withTransaction,
      Effect.catchIf(SqlError.isSqlError, Effect.die)
    )

    return { orderRecords, pluginRecords, erase }
  })
}) {
  static readonly layer = Layer.effect(PersonalDataRepo, PersonalDataRepo.make)
}

/** The profile keeps its id, which orders reference. */
const eraseOwn = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, actor: Actor, profile: Customer, now: Date) {
  const theirs = sql`customer_id = ${profile.id}::uuid and organization_id = ${actor.organizationId}`
  const addresses = yield* sql`delete from customer_addresses where ${theirs} returning 1`
  const interactions = yield* sql`delete from customer_interactions where ${theirs} returning 1`
  yield* sql`delete from customer_group_members where ${theirs}`
  yield* sql`update customers set user_id = null, email = null, phone = null, first_name = null, last_name = null,
      group_ids = '{}', metadata = '{}', tax_exemption = null, updated_at = ${now}::timestamptz, erased_at = ${now}::timestamptz
    where id = ${profile.id}::uuid and organization_id = ${actor.organizationId}`
  return { addresses: addresses.length, interactions: interactions.length }
})

const locked = Effect.fnUntraced(
  function*<Id extends string>(
    sql: SqlClient.SqlClient,
    table: "orders" | "carts",
    id: Schema.Codec<Id, string>,
    actor: Actor,
    customerId: CustomerId
  ) {
    const rows = yield* decoding(sql, Schema.Struct({ id }))`select id from ${
      sql(table)
    } where customer_id = ${customerId}::uuid
      and organization_id = ${actor.organizationId} order by id for update`
    return rows.map(({ id }) => id)
  }
)

/**
 * The numbers of open orders, and an empty one for a checkout. Runs after orders, then carts are locked: a checkout
 * that has not created its order cannot claim its cart before the erasure ends it.
 */
const underWay = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, actor: Actor, customerId: CustomerId) {
  const rows = yield* decoding(sql, Schema.Struct({ number: Schema.String }))`select order_number as number from orders
      where customer_id = ${customerId}::uuid and organization_id = ${actor.organizationId}
        and status in ('pending', 'confirmed', 'processing', 'partially_fulfilled')
    union all
    select '' from carts where customer_id = ${customerId}::uuid and organization_id = ${actor.organizationId}
      and status = 'checking_out'`
  return rows.map(({ number }) => number)
})

const recordsOf = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, actor: Actor, orderIds: ReadonlyArray<OrderId>) {
    const Record = Schema.Struct({ entityType: Schema.String, ids: Schema.Array(Schema.String) })
    const of = (entityType: string, table: string) =>
      sql`select ${entityType}::text as "entityType", array_agg(id::text order by id) as ids from ${sql(table)}
        where order_id = any(${orderIds}::uuid[]) and organization_id = ${actor.organizationId} having count(*) > 0`
    return yield* decoding(sql, Record)`${of("refund", "refunds")} union all ${of("fulfillment", "fulfillments")}
      union all ${of("return", "order_returns")}
      union all ${of("compensation_failure", "compensation_failures")}`
  }
)

/**
 * Deletes staff notes and tracking numbers, by which a carrier can find the address. Invoices stay as issued by law.
 */
const anonymizeRecords = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, actor: Actor, orderIds: ReadonlyArray<OrderId>) {
    const theirs = sql`order_id = any(${orderIds}::uuid[]) and organization_id = ${actor.organizationId}`
    yield* sql`update refunds set reason = reason_anonymous(reason), given_outside = given_outside - 'reference'
      where ${theirs}`
    yield* sql`update order_status_history set reason = reason_anonymous(reason) where ${theirs} and reason is not null`
    yield* sql`update compensation_failures set note = null where ${theirs} and note is not null`
    yield* sql`update order_returns set photos = '[]', rejection_reason = null, instructions = null, label_url = null
      where ${theirs}`
    yield* sql`update order_mails set subject = null, content = null where ${theirs}`
    yield* sql`update order_return_lines set reason = null
      where return_id = any(array(select id from order_returns where ${theirs})) and reason is not null`
    yield* sql`update fulfillments set tracking_number = null, tracking_url = null, details = null where ${theirs}`
    yield* sql`update fulfillment_events set description = null
      where fulfillment_id = any(array(select id from fulfillments where ${theirs})) and description is not null`
  }
)

/** Texts that shoppers add to a line may name people. */
const details = lineDetails.map((field) => columnOf(undefined, field))

/** The cart's version increases: its entity reads it again. */
const anonymize = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  actor: Actor,
  { cartIds, orderIds }: { readonly cartIds: ReadonlyArray<CartId>; readonly orderIds: ReadonlyArray<OrderId> },
  now: Date
) {
  const cleared = sql.literal(details.map((column) => `${column} = null,`).join(" "))
  const given = sql.literal(details.map((column) => `or ${column} is not null`).join(" "))
  yield* sql`update orders set email = null, shipping_address = null, metadata = metadata_anonymous(metadata),
      tax_exemption = outbox_anonymous(tax_exemption) || '{"number": null}', request_hash = null,
      updated_at = ${now}::timestamptz
    where id = any(${orderIds}::uuid[]) and organization_id = ${actor.organizationId}`
  yield* sql`update order_lines set ${cleared} metadata = metadata_anonymous(metadata)
    where order_id = any(${orderIds}::uuid[]) and organization_id = ${actor.organizationId}
      and (metadata <> '{}' ${given})`
  yield* sql`delete from order_notes where order_id = any(${orderIds}::uuid[])
    and organization_id = ${actor.organizationId}`
  yield* anonymizeRecords(sql, actor, orderIds)
  yield* sql`update carts set email = null, metadata = '{}', choices = '{}', version = version + 1,
      status = case status when 'active' then 'abandoned' else status end, updated_at = ${now}::timestamptz
    where id = any(${cartIds}::uuid[]) and organization_id = ${actor.organizationId}`
  const theirs = sql`cart_id = any(${cartIds}::uuid[]) and organization_id = ${actor.organizationId}`
  yield* sql`update cart_lines set ${cleared} metadata = '{}' where ${theirs}`
  // A short text can be guessed by its hash.
  yield* sql`update cart_lines_with_metadata set metadata_hash = id::text where ${theirs}`
})
