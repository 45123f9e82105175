import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import type { Change } from "../events/Event.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import { redactJournal } from "../events/RedactionRepo.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import { newId } from "../ids/Id.ts"
import { blankCustomer, type Customer } from "./Customer.ts"
import { type CustomerRow, toCustomer } from "./CustomerRows.ts"

/** Takes a person out of the database (docs/customers.md). */
export class ErasureRepo extends Context.Service<ErasureRepo, {
  /**
   * Erases the person behind a profile in one transaction: profile, addresses, notes and groups go, orders and carts stay
   * without a word about him, and so do the entries of the journal, whose chain still holds. Announces `customers.update`
   * with what is left, which it gives. Undefined when the organization has no such profile (any more).
   */
  readonly erase: (customerId: string, now: Date) => Effect.Effect<Customer | undefined, never, CurrentActor>
}>()("stoa/domain/customers/ErasureRepo") {}

/** What belongs to him alone. The profile keeps its id, which orders refer to, and nothing else. */
const eraseOwn = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, actor: Actor, profile: Customer, now: Date) {
  const his = sql`customer_id = ${profile.id}::uuid and organization_id = ${actor.organizationId}`
  const addresses = yield* sql`delete from customer_addresses where ${his} returning 1`
  const interactions = yield* sql`delete from customer_interactions where ${his} returning 1`
  yield* sql`delete from customer_group_members where ${his}`
  yield* sql`update customers set user_id = null, email = null, phone = null, first_name = null, last_name = null,
      group_ids = '{}', metadata = '{}', updated_at = ${now}::timestamptz, erased_at = ${now}::timestamptz
    where id = ${profile.id}::uuid and organization_id = ${actor.organizationId}`
  return { addresses: addresses.length, interactions: interactions.length }
})

/** His orders or carts, locked in the order of their ids as whoever locks several of them does. */
const locked = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, table: "orders" | "carts", actor: Actor, customerId: string) {
    const rows = yield* sql<{ readonly id: string }>`select id from ${
      sql(table)
    } where customer_id = ${customerId}::uuid
      and organization_id = ${actor.organizationId} order by id for update`
    return rows.map(({ id }) => id)
  }
)

/** Orders and carts without a word about him. A cart's version moves, so that its actor reads it again. */
const anonymize = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, actor: Actor, profile: Customer, now: Date) {
  const orderIds = yield* locked(sql, "orders", actor, profile.id)
  const cartIds = yield* locked(sql, "carts", actor, profile.id)
  yield* sql`update orders set email = null, shipping_address = null, metadata = metadata_anonymous(metadata),
      updated_at = ${now}::timestamptz
    where id = any(${orderIds}::uuid[]) and organization_id = ${actor.organizationId}`
  yield* sql`update order_lines set metadata = metadata_anonymous(metadata)
    where order_id = any(${orderIds}::uuid[]) and organization_id = ${actor.organizationId} and metadata <> '{}'`
  yield* sql`update carts set email = null, metadata = '{}', version = version + 1,
      status = case status when 'active' then 'abandoned' else status end, updated_at = ${now}::timestamptz
    where id = any(${cartIds}::uuid[]) and organization_id = ${actor.organizationId}`
  yield* sql`update cart_lines set notes = null, metadata = '{}'
    where cart_id = any(${cartIds}::uuid[]) and organization_id = ${actor.organizationId}`
  return { orderIds, cartIds }
})

/** `ErasureRepo` over the database of the process. */
export const erasureRepoLayer = Layer.effect(
  ErasureRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const erase = Effect.fn("ErasureRepo.erase")(
      function*(customerId: string, now: Date) {
        // What the journal keeps of the erasure itself does not say where it came from either.
        const actor: Actor = { ...yield* CurrentActor, ip: null, userAgent: null }
        const { organizationId } = actor
        const rows = yield* sql<CustomerRow>`select * from customers where id = ${customerId}::uuid
        and organization_id = ${organizationId} and erased_at is null for update`
        if (rows[0] === undefined) return undefined
        const profile = toCustomer(rows[0])
        const own = yield* eraseOwn(sql, actor, profile, now)
        const { cartIds, orderIds } = yield* anonymize(sql, actor, profile, now)
        const entryId = newId()
        const actorId = profile.userId ?? profile.id
        const redaction = { organizationId, entryId, customerId, orderIds, cartIds, actorId }
        const redacted = yield* redactJournal(sql, redaction)
        const left: Customer = {
          ...blankCustomer({ id: customerId, organizationId, userId: null, now }),
          createdAt: profile.createdAt
        }
        // Of what was before only what the journal keeps anyway: whose login it was, as the one who did this.
        const { groupIds, updatedAt, userId } = profile
        const about = { entityType: "customer", entityId: customerId } as const
        const counts = { ...own, orders: orderIds.length, carts: cartIds.length }
        const changes: ReadonlyArray<Change & { readonly id?: string }> = [
          { ...about, type: "customers.update", payload: left, before: { ...left, userId, groupIds, updatedAt } },
          { ...about, type: "customers.erase", id: entryId, payload: { ...counts, redacted }, before: { ...counts } }
        ]
        yield* sql`with event as (${journalInsert(sql, actor, changes)})${mark(sql, actor)} select 1`
        return left
      },
      sql.withTransaction,
      Effect.orDie
    )

    return ErasureRepo.of({ erase })
  })
)
