import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"

/** Where a page of customers begins: behind this one. */
export interface PersonCursor {
  readonly email: string
  readonly id: string
}

/** Customers as files carry them, and where the next page begins. */
export interface PersonPage {
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly last: PersonCursor | undefined
}

/** Reads the customers of an organization from one end to the other. */
export class PersonPageRepo extends Context.Service<PersonPageRepo, {
  /** So many behind a cursor, by e-mail address; those without one have no key and are left out. One statement. */
  readonly after: (cursor: PersonCursor, limit: number) => Effect.Effect<PersonPage, never, CurrentActor>
}>()("stoa/domain/import-export/PersonPageRepo") {
  static readonly layer = Layer.effect(PersonPageRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface Row {
  readonly cursor: PersonCursor
  readonly record: Readonly<Record<string, unknown>>
}

const addresses = `(select coalesce(jsonb_agg(jsonb_build_object('type', a.type, 'firstName', a.first_name,
    'lastName', a.last_name, 'line1', a.line1, 'line2', a.line2, 'city', a.city, 'state', a.state,
    'postalCode', a.postal_code, 'country', a.country, 'phone', a.phone, 'isDefault', a.is_default)
    order by a.created_at, a.id), '[]')
  from customer_addresses a where a.customer_id = c.id and a.organization_id = c.organization_id)`

const groups = `(select coalesce(jsonb_agg(g.name order by g.name), '[]') from customer_group_members m
  join customer_groups g on g.id = m.group_id
  where m.customer_id = c.id and m.organization_id = c.organization_id)`

const make = (sql: SqlClient.SqlClient): PersonPageRepo["Service"] => {
  const after = Effect.fn("PersonPageRepo.after")(function*(cursor: PersonCursor, limit: number) {
    const organization = yield* currentOrganization
    // Sorted as the index of addresses is: by bytes.
    const rows = yield* sql<Row>`select jsonb_build_object('email', lower(c.email), 'id', c.id) as cursor,
        jsonb_build_object('email', c.email, 'firstName', c.first_name, 'lastName', c.last_name, 'phone', c.phone,
          'groups', ${sql.literal(groups)}, 'metadata', c.metadata, 'addresses', ${sql.literal(addresses)}) as record
      from (select * from customers where organization_id = ${organization} and erased_at is null
          and lower(email) ~>=~ ${cursor.email}::text
          and (lower(email) ~>~ ${cursor.email}::text or id > ${cursor.id}::uuid)
        order by lower(email) using ~<~, id limit ${limit}) c
      order by lower(c.email) using ~<~, c.id`
    const page: PersonPage = { records: rows.map(({ record }) => record), last: rows.at(-1)?.cursor }
    return page
  }, Effect.orDie)

  return { after }
}
