import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { Change } from "../events/Event.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import type { Address } from "./Address.ts"
import type { Customer } from "./Customer.ts"
import type { CustomerGroup } from "./CustomerGroup.ts"
import type { CustomerRecord } from "./CustomerRecord.ts"
import { type CustomerRow, toCustomer } from "./CustomerRows.ts"

/** What a batch of customers starts from. */
export interface CustomerState {
  /** The clock of the database. */
  readonly now: Date
  /** By e-mail address in lower case; more than one may have the same. */
  readonly customers: ReadonlyMap<string, ReadonlyArray<Customer>>
  /** By customer. */
  readonly addresses: ReadonlyMap<string, ReadonlyArray<Address>>
  /** Ids by name. */
  readonly groups: Map<string, string>
}

interface Membership {
  readonly groupId: string
  readonly customerId: string
}

/** Rows that a batch writes, and what the journal tells of them. */
export interface CustomerWrites {
  readonly created: Array<Customer>
  readonly changed: Array<Customer>
  readonly groups: Array<CustomerGroup>
  readonly joined: Array<Membership>
  readonly left: Array<Membership>
  readonly addresses: Array<Address>
  readonly changes: Array<Change>
}

/** Batches of customers. */
export class CustomerBatchRepo extends Context.Service<CustomerBatchRepo, {
  /** Locks and reads, in four statements; one batch of an organization at a time, because an address is no key. */
  readonly read: (records: ReadonlyArray<CustomerRecord>) => Effect.Effect<CustomerState, never, CurrentActor>
  /** Two statements: the people, and what belongs to them. */
  readonly write: (writes: CustomerWrites) => Effect.Effect<void, never, CurrentActor>
  /** Ids by e-mail address in lower case, of the only profile of it that nobody else could have taken. */
  readonly ownersOf: (
    emails: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, string>, never, CurrentActor>
  /** Ids of groups by their names. */
  readonly groupsNamed: (
    names: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, string>, never, CurrentActor>
}>()("stoa/domain/customers/CustomerBatchRepo") {
  static readonly layer = Layer.effect(CustomerBatchRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const customerColumns = `id uuid, "userId" text, email text, phone text, "firstName" text, "lastName" text,
  metadata jsonb, "createdAt" timestamptz, "updatedAt" timestamptz`

const addressColumns = `id uuid, "customerId" uuid, "type" text, "isDefault" boolean, "firstName" text,
  "lastName" text, line1 text, line2 text, city text, state text, "postalCode" text, country text, phone text`

const grouped = <A>(rows: ReadonlyArray<A>, keyOf: (row: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const by = new Map<string, Array<A>>()
  for (const row of rows) {
    const key = keyOf(row)
    const there = by.get(key)
    if (there === undefined) by.set(key, [row])
    else there.push(row)
  }
  return by
}

const makeReads = (sql: SqlClient.SqlClient) => {
  const groupsNamed = Effect.fn("CustomerBatchRepo.groupsNamed")(function*(names: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly id: string; readonly name: string }>`select id, name from customer_groups
      where organization_id = ${organization} and name = any(${[...new Set(names)]}::text[]) order by id for key share`
    return new Map(rows.map(({ id, name }) => [name, id]))
  }, Effect.orDie)

  const read = Effect.fn("CustomerBatchRepo.read")(function*(records: ReadonlyArray<CustomerRecord>) {
    const organization = yield* currentOrganization
    const emails = records.map(({ email }) => email.toLowerCase())
    const [clock] = yield* sql<{ readonly now: Date }>`select now() as now,
      pg_advisory_xact_lock(hashtextextended(${`customers by e-mail:${organization}`}, 0))`
    const customers = yield* sql<CustomerRow>`select * from customers
      where organization_id = ${organization} and lower(email) = any(${emails}::text[]) and erased_at is null
      order by id for update`.unprepared
    const addresses = yield* sql<Address>`select id, customer_id as "customerId", type, is_default as "isDefault",
        first_name as "firstName", last_name as "lastName", line1, line2, city, state, postal_code as "postalCode",
        country, phone
      from customer_addresses where organization_id = ${organization}
        and customer_id = any(${customers.map(({ id }) => id)}::uuid[]) order by created_at, id`.unprepared
    const groups = yield* groupsNamed(records.flatMap((record) => record.groups ?? []))
    return {
      now: clock?.now ?? new Date(0),
      customers: grouped(customers.map(toCustomer), ({ email }) => email?.toLowerCase() ?? ""),
      addresses: grouped(addresses, ({ customerId }) => customerId),
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

const makeOwnersOf = (sql: SqlClient.SqlClient): CustomerBatchRepo["Service"]["ownersOf"] =>
  Effect.fn("CustomerBatchRepo.ownersOf")(function*(emails) {
    const organization = yield* currentOrganization
    // Held until the transaction ends: an erasure waits, and finds what the batch has made his.
    const rows = yield* sql<OwnerRow>`select c.id, lower(c.email) as email, c.user_id = 'anonymous_' || c.id or exists (
        select 1 from users u where u.email = lower(c.email) and u.id::text = c.user_id and u.email_verified) as proven
      from customers c where c.organization_id = ${organization} and c.erased_at is null
        and lower(c.email) = any(${[...new Set(emails.map((email) => email.toLowerCase()))]}::text[])
      order by c.id for share of c`.unprepared
    const all = grouped(rows, ({ email }) => email)
    return new Map(
      [...all].flatMap(([email, [first, ...others]]) =>
        first?.proven === true && others.length === 0 ? [[email, first.id]] : []
      )
    )
  }, Effect.orDie)

const makeWrite = (sql: SqlClient.SqlClient) => {
  const rows = (list: ReadonlyArray<object>, columns: string) =>
    sql`jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as x(${sql.literal(columns)})`
  const ends = `"groupId" uuid, "customerId" uuid`

  return Effect.fn("CustomerBatchRepo.write")(function*(writes: CustomerWrites) {
    if (writes.changes.length === 0) return
    const actor = yield* CurrentActor
    const of = actor.organizationId
    yield* sql`with made as (insert into customers (id, organization_id, user_id, email, phone, first_name, last_name,
        metadata, created_at, updated_at)
      select id, ${of}, "userId", email, phone, "firstName", "lastName", metadata, "createdAt", "updatedAt"
      from ${rows(writes.created, customerColumns)}),
    changed as (update customers c set email = x.email, phone = x.phone, first_name = x."firstName",
        last_name = x."lastName", metadata = x.metadata, updated_at = x."updatedAt"
      from ${rows(writes.changed, customerColumns)} where c.id = x.id and c.organization_id = ${of}),
    new_groups as (insert into customer_groups (id, organization_id, name, metadata)
      select id, ${of}, name, '{}' from ${rows(writes.groups, "id uuid, name text")}),
    entries as (${journalInsert(sql, actor, writes.changes)})
    select 1`
    if (writes.joined.length + writes.left.length + writes.addresses.length === 0) return
    // After the people: each membership moves the row of its customer, which one statement cannot do beside another change.
    yield* sql`with added as (insert into customer_addresses (id, organization_id, customer_id, type, is_default,
        first_name, last_name, line1, line2, city, state, postal_code, country, phone)
      select id, ${of}, "customerId", "type", "isDefault", "firstName", "lastName", line1, line2, city, state,
        "postalCode", country, phone from ${rows(writes.addresses, addressColumns)}),
    left_groups as (delete from customer_group_members m using ${rows(writes.left, ends)}
      where m.organization_id = ${of} and m.group_id = x."groupId" and m.customer_id = x."customerId")
    insert into customer_group_members (organization_id, group_id, customer_id)
      select ${of}, "groupId", "customerId" from ${rows(writes.joined, ends)} on conflict do nothing`
  }, Effect.orDie)
}

const make = (sql: SqlClient.SqlClient): CustomerBatchRepo["Service"] => ({
  ...makeReads(sql),
  ownersOf: makeOwnersOf(sql),
  write: makeWrite(sql)
})
