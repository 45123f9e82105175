import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, currentOrganization, isSignedIn } from "../platform/access/Actor.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { type CustomerId, newId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { recordRepo } from "../platform/resources/RecordRepo.ts"
import { emailKey, emailKeyOf } from "../platform/text/Email.ts"
import { BuyerProfile, profileJson } from "./BuyerProfile.ts"
import { blankCustomer, Customer, customerChange, nameParts } from "./Customer.ts"

export const customers = new Table("customers", Customer)

const Buyer = Schema.Struct({ groupIds: Customer.fields.groupIds, profile: Schema.NullOr(BuyerProfile) })

class LoginTaken extends conflict("CustomerExists", "This login has a customer profile already.") {}

export class CustomerRepo extends Context.Service<CustomerRepo>()("stoa/domain/customers/CustomerRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const columns = sql.literal(customers.columns())
    const there = sql`erased_at is null`
    const records = recordRepo(sql, {
      table: customers,
      order: "created_at desc, id desc",
      entityType: "customer",
      changes: { create: "customers.create", update: "customers.update", delete: "customers.delete" }
    }, refusedBy({ customers_login: () => new LoginTaken() }))

    const existingProfileOf = Effect.fn("CustomerRepo.existingProfileOf")(function*(actor: Actor) {
      if (!isSignedIn(actor)) return null
      const rows = yield* customers.rows(sql)`select ${columns} from customers
        where organization_id = ${actor.organizationId} and user_id = ${actor.userId}`
      return rows[0] ?? null
    }, Effect.orDie)

    const openProfile = Effect.fn("CustomerRepo.openProfile")(function*(actor: Actor) {
      if (!isSignedIn(actor)) return null
      const { email, organizationId, userId } = actor
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const profile = {
        ...blankCustomer({ id: newId(), organizationId, userId, now }),
        ...nameParts(actor.name),
        email
      }
      // Of two concurrent requests one inserts. The other insert waits and meets the row: its empty update makes the
      // row visible to this statement.
      const rows = yield* customers.rows(sql)`with found as (
          select * from customers where organization_id = ${organizationId} and user_id = ${userId}),
        made as (
          insert into customers as c (${sql.literal(customers.names)}) ${customers.values(sql, [profile])}
          where not exists (select 1 from found)
          on conflict (organization_id, user_id) do update set user_id = c.user_id
          returning *),
        fresh as (select 1 from made where id = ${profile.id}::uuid),
        event as (${changeLogInsert(sql, actor, [customerChange(profile, null)], "fresh")})
        select ${columns} from found union all select ${columns} from made`
      return rows[0] === undefined ? null : { customer: rows[0], made: rows[0].id === profile.id }
    }, Effect.orDie)

    /** The groups of a customer, and how an order names them. */
    const buyer = Effect.fn("CustomerRepo.buyer")(function*(id: CustomerId) {
      const [row] = yield* decoding(sql, Buyer)`select u.group_ids as "groupIds", ${sql.literal(profileJson)} as profile
        from customers u where u.id = ${id}::uuid and u.organization_id = ${yield* currentOrganization}`
      return row ?? { groupIds: [], profile: null }
    }, Effect.orDie)

    return {
      existingProfileOf,
      openProfile,
      buyer,
      find: (id: CustomerId) => records.find(id, there),
      list: (page: PageRequest) => records.list(page, [there], "all"),
      insert: records.insert,
      /**
       * Applies a rule to the locked profile, with the event `customers.update`. Undefined for an unknown profile;
       * returns a record only when something was written.
       */
      change: (id: CustomerId, rule: (before: Customer) => Customer) =>
        records.change(id, (before) => Effect.succeed(rule(before)), there)
    }
  })
}) {
  static readonly layer = Layer.effect(CustomerRepo, CustomerRepo.make)
}

const Owner = Schema.Struct({ profile: BuyerProfile, email: Schema.String, proven: Schema.Boolean })

export const customerReads = Effect.map(SqlClient.SqlClient, (sql) => {
  /** One batch of an organization runs at a time: e-mail is no unique key. */
  const byEmail = Effect.fn("CustomerRepo.byEmail")(function*(emails: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${`customers by e-mail:${organization}`}, 0))`
    return yield* customers.rows(sql, "unprepared")`select ${sql.literal(customers.columns())} from customers
      where organization_id = ${organization} and ${sql.literal(emailKeyOf("email"))} = any(${
      emails.map(emailKey)
    }::text[]) and erased_at is null
      order by id for update`
  }, Effect.orDie)

  const ownersOf = Effect.fn("CustomerRepo.ownersOf")(function*(emails: ReadonlyArray<string>) {
    const key = sql.literal(emailKeyOf("u.email"))
    // Held until the transaction ends: an erasure waits, and then finds the orders of the batch.
    const rows = yield* decoding(sql, Owner, "unprepared")`select ${
      sql.literal(profileJson)
    } as profile, ${key} as email,
        u.user_id = 'anonymous_' || u.id or exists (
          select 1 from users_read l where l.email = ${key} and l.id::text = u.user_id and l.email_verified) as proven
      from customers u where u.organization_id = ${yield* currentOrganization} and u.erased_at is null
        and ${key} = any(${[...new Set(emails.map(emailKey))]}::text[])
      order by u.id for share of u`
    return new Map(
      [...Map.groupBy(rows, ({ email }) => email)].flatMap(([email, [first, ...others]]) =>
        first?.proven === true && others.length === 0 ? [[email, first.profile]] : []
      )
    )
  }, Effect.orDie)

  return { byEmail, ownersOf }
})
