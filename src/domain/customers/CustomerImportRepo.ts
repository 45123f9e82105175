import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { Address } from "./Address.ts"
import type { Customer } from "./Customer.ts"
import type { CustomerRecord } from "./CustomerRecord.ts"
import { customerColumns } from "./CustomerRows.ts"

/** The current state for a batch of customers. */
export interface CustomerState {
  /** The clock of the database. */
  readonly now: Date
  /** By e-mail address in lower case; several customers may share one. */
  readonly customers: ReadonlyMap<string, ReadonlyArray<Customer>>
  /** By customer. */
  readonly addresses: ReadonlyMap<string, ReadonlyArray<Address>>
  /** Ids by name. */
  readonly groups: Map<string, string>
}

/** Reads customers for imports. */
export class CustomerImportRepo extends Context.Service<CustomerImportRepo, {
  /**
   * Locks and reads in four statements. One batch of an organization runs at a time, because e-mail is no unique key.
   */
  readonly read: (records: ReadonlyArray<CustomerRecord>) => Effect.Effect<CustomerState, never, CurrentActor>
  /** Ids by e-mail address in lower case: for addresses with one profile, entered by staff or with a verified login. */
  readonly ownersOf: (
    emails: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, string>, never, CurrentActor>
  /** Ids of groups by name. */
  readonly groupsNamed: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, string>, never, CurrentActor>
}>()("stoa/domain/customers/CustomerImportRepo") {
  static readonly layer = Layer.effect(CustomerImportRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const makeReads = (sql: SqlClient.SqlClient) => {
  const groupsNamed = Effect.fn("CustomerImportRepo.groupsNamed")(function*(names: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly id: string; readonly name: string }>`select id, name from customer_groups
      where organization_id = ${organization} and name = any(${[...new Set(names)]}::text[]) order by id for key share`
    return new Map(rows.map(({ id, name }) => [name, id]))
  }, Effect.orDie)

  const read = Effect.fn("CustomerImportRepo.read")(function*(records: ReadonlyArray<CustomerRecord>) {
    const organization = yield* currentOrganization
    const emails = records.map(({ email }) => email.toLowerCase())
    const [clock] = yield* sql<{ readonly now: Date }>`select now() as now,
      pg_advisory_xact_lock(hashtextextended(${`customers by e-mail:${organization}`}, 0))`
    const customers = yield* sql<Customer>`select ${sql.literal(customerColumns)} from customers
      where organization_id = ${organization} and lower(email) = any(${emails}::text[]) and erased_at is null
      order by id for update`.unprepared
    const addresses = yield* sql<Address>`select ${sql.literal(columnsOf(Address.fields))}
      from customer_addresses where organization_id = ${organization}
        and customer_id = any(${customers.map(({ id }) => id)}::uuid[]) order by created_at, id`.unprepared
    const groups = yield* groupsNamed(records.flatMap((record) => record.groups ?? []))
    return {
      now: clock?.now ?? new Date(0),
      customers: Map.groupBy(customers, ({ email }) => email?.toLowerCase() ?? ""),
      addresses: Map.groupBy(addresses, ({ customerId }) => customerId),
      groups: new Map(groups)
    }
  }, Effect.orDie)

  return { groupsNamed, read }
}

interface OwnerRow {
  readonly id: string
  readonly email: string
  readonly proven: boolean
}

const makeOwnersOf = (sql: SqlClient.SqlClient): CustomerImportRepo["Service"]["ownersOf"] =>
  Effect.fn("CustomerImportRepo.ownersOf")(function*(emails) {
    const organization = yield* currentOrganization
    // Held until the transaction ends: an erasure waits, and then finds the orders of the batch.
    const rows = yield* sql<OwnerRow>`select c.id, lower(c.email) as email, c.user_id = 'anonymous_' || c.id or exists (
        select 1 from users u where u.email = lower(c.email) and u.id::text = c.user_id and u.email_verified) as proven
      from customers c where c.organization_id = ${organization} and c.erased_at is null
        and lower(c.email) = any(${[...new Set(emails.map((email) => email.toLowerCase()))]}::text[])
      order by c.id for share of c`.unprepared
    const all = Map.groupBy(rows, ({ email }) => email)
    return new Map(
      [...all].flatMap(([email, [first, ...others]]) =>
        first?.proven === true && others.length === 0 ? [[email, first.id]] : []
      )
    )
  }, Effect.orDie)

const make = (sql: SqlClient.SqlClient): CustomerImportRepo["Service"] => ({
  ...makeReads(sql),
  ownersOf: makeOwnersOf(sql)
})
