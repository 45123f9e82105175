import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization, isSignedIn } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../ids/Id.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { blankCustomer, type Customer, nameParts } from "./Customer.ts"
import { customerChange, customers } from "./CustomerRows.ts"

/** All SQL of customer profiles. Queries exclude erased profiles. */
export class CustomerRepo extends Context.Service<CustomerRepo>()("stoa/domain/customers/CustomerRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({ openProfile: openingOf(sql), ...reading(sql), ...writing(sql) }))
}) {
  static readonly layer = Layer.effect(CustomerRepo, CustomerRepo.make)
}

/** The columns of a new row and their values, for an `insert … select`. */
const newCustomerRow = (sql: SqlClient.SqlClient, c: Customer) => ({
  columns: sql.literal(
    "id, organization_id, user_id, email, phone, first_name, last_name, metadata, created_at, updated_at"
  ),
  values: sql`${c.id}::uuid, ${c.organizationId}, ${c.userId}, ${c.email}, ${c.phone}, ${c.firstName}, ${c.lastName},
    ${JSON.stringify(c.metadata)}::jsonb, ${c.createdAt}::timestamptz, ${c.updatedAt}::timestamptz`
})

/**
 * The profile of a signed-in user, created on first use with the event `customers.create`, and whether this request
 * created it. One statement, and one profile for any number of concurrent requests. Null for anonymous visitors and API
 * keys.
 */
const openingOf = (sql: SqlClient.SqlClient) =>
  Effect.fn("CustomerRepo.openProfile")(function*(actor: Actor) {
    if (!isSignedIn(actor)) return null
    const { email, organizationId, userId } = actor
    const now = DateTime.toDateUtc(yield* DateTime.now)
    const profile = { ...blankCustomer({ id: newId(), organizationId, userId, now }), ...nameParts(actor.name), email }
    const { columns, values } = newCustomerRow(sql, profile)
    // Of two concurrent requests that find nothing, one inserts. The other insert waits, meets the row and only reads
    // it: the update changes nothing but makes the row visible to this statement.
    const rows = yield* customers.rows(sql)`with found as (
        select * from customers where organization_id = ${organizationId} and user_id = ${userId}),
      made as (
        insert into customers as c (${columns}) select ${values} where not exists (select 1 from found)
        on conflict (organization_id, user_id) do update set user_id = c.user_id
        returning *),
      fresh as (select 1 from made where id = ${profile.id}::uuid),
      event as (${changeLogInsert(sql, actor, [customerChange(profile, null)], "fresh")})
      select ${sql.literal(customers.columns())} from found union all select ${
      sql.literal(customers.columns())
    } from made`
    return rows[0] === undefined ? null : { customer: rows[0], made: rows[0].id === profile.id }
  }, Effect.orDie)

const orTaken = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation" && error.reason.constraint === "customers_login"
    ? Effect.fail(Conflict.of("This login has a customer profile already."))
    : Effect.die(error)

const writing = (sql: SqlClient.SqlClient) => {
  /** Writes a new profile with its event; 409 when its login has a profile. */
  const insert = Effect.fn("CustomerRepo.insert")(function*(customer: Customer) {
    const actor = yield* CurrentActor
    const { columns, values } = newCustomerRow(sql, customer)
    yield* sql`with made as (insert into customers (${columns}) select ${values} returning id),
      event as (${changeLogInsert(sql, actor, [customerChange(customer, null)], "made")})${
      idempotencyRecord(sql, actor, "made")
    }
      select id from made`
  }, Effect.catchTag("SqlError", orTaken))

  /**
   * Applies a rule to the current profile, with the event `customers.update`. The row is locked, so that the later of
   * two changes builds on the earlier one. Undefined for an unknown profile; `changed` is false when nothing was
   * different and nothing was written.
   */
  const change = Effect.fn("CustomerRepo.change")(
    function*(id: string, rule: (before: Customer) => Customer) {
      const actor = yield* CurrentActor
      const [before] = yield* customers.rows(sql)`select ${
        sql.literal(customers.columns())
      } from customers where id = ${id}::uuid
        and organization_id = ${actor.organizationId} and erased_at is null for update`
      if (before === undefined) return undefined
      const c = rule(before)
      if (c === before) return { customer: before, changed: false }
      yield* sql`with event as (${changeLogInsert(sql, actor, [customerChange(c, before)])})${
        idempotencyRecord(sql, actor)
      }
      update customers set email = ${c.email}, phone = ${c.phone}, first_name = ${c.firstName},
        last_name = ${c.lastName}, metadata = ${JSON.stringify(c.metadata)}::jsonb,
        updated_at = ${c.updatedAt}::timestamptz
      where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return { customer: c, changed: true }
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { insert, change }
}

const reading = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(customers.columns())

  /** A profile by id; undefined when the organization has no such profile. */
  const find = Effect.fn("CustomerRepo.find")(function*(id: string) {
    const [customer] = yield* customers.rows(sql)`select ${columns} from customers
      where id = ${id}::uuid and organization_id = ${yield* currentOrganization} and erased_at is null`
    return customer
  }, Effect.orDie)

  /** A page of profiles, newest first, in two statements. */
  const list = Effect.fn("CustomerRepo.list")((page: PageRequest) =>
    Effect.orDie(ownPage(sql, customers, "created_at desc, id desc", page, [sql`erased_at is null`]))
  )

  /** The existing profile of a signed-in user; null before its first use, and for visitors and API keys. */
  const existingProfileOf = Effect.fn("CustomerRepo.existingProfileOf")(function*(actor: Actor) {
    if (!isSignedIn(actor)) return null
    const rows = yield* customers.rows(sql)`select ${columns} from customers
      where organization_id = ${actor.organizationId} and user_id = ${actor.userId}`
    return rows[0] ?? null
  }, Effect.orDie)

  /** Groups of a profile, for prices and promotions. Empty for an unknown profile. */
  const groupsOf = Effect.fn("CustomerRepo.groupsOf")(function*(id: string) {
    const rows = yield* sql<Pick<Customer, "groupIds">>`select group_ids as "groupIds" from customers
      where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
    return rows[0]?.groupIds ?? []
  }, Effect.orDie)

  return { existingProfileOf, find, list, groupsOf }
}
