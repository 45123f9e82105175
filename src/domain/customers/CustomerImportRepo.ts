import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { customers } from "./CustomerRows.ts"

/** Reads customers for imports. */
export const customerReads = Effect.map(SqlClient.SqlClient, (sql) => {
  /** Locks and reads by e-mail address. One batch of an organization runs at a time: e-mail is no unique key. */
  const byEmail = Effect.fn("CustomerImportRepo.customers")(function*(emails: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${`customers by e-mail:${organization}`}, 0))`
    return yield* customers.rows(sql, "unprepared")`select ${sql.literal(customers.columns())} from customers
      where organization_id = ${organization} and lower(email) = any(${emails}::text[]) and erased_at is null
      order by id for update`
  }, Effect.orDie)

  /** Ids by e-mail address in lower case: for addresses with one profile, entered by staff or with a verified login. */
  const ownersOf = Effect.fn("CustomerImportRepo.ownersOf")(function*(emails: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    interface Owner {
      readonly id: string
      readonly email: string
      readonly proven: boolean
    }
    // Held until the transaction ends: an erasure waits, and then finds the orders of the batch.
    const rows = yield* sql<Owner>`select c.id, lower(c.email) as email, c.user_id = 'anonymous_' || c.id or exists (
        select 1 from users_read u where u.email = lower(c.email) and u.id::text = c.user_id and u.email_verified) as proven
      from customers c where c.organization_id = ${organization} and c.erased_at is null
        and lower(c.email) = any(${[...new Set(emails.map((email) => email.toLowerCase()))]}::text[])
      order by c.id for share of c`.unprepared
    const owners = [...Map.groupBy(rows, ({ email }) => email)]
    return new Map(
      owners.flatMap(([email, [first, ...others]]) =>
        first?.proven === true && others.length === 0 ? [[email, first.id]] : []
      )
    )
  }, Effect.orDie)

  return { customers: byEmail, ownersOf }
})
