import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** An entry of the change log as its row. */
export interface Entry {
  readonly id: string
  readonly type: string
  readonly entity_type: string
  readonly entity_id: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly before: Readonly<Record<string, unknown>> | null
  readonly actor_id: string | null
  readonly actor_type: string
  readonly request_id: string | null
  readonly ip: string | null
  readonly user_agent: string | null
  readonly source: string
  readonly position: bigint | null
  readonly event_sequence: bigint | null
}

/** Writes entries of one type for an organization, as a module's statement would. */
export const writeEntries = (count: number, organization = "org_default", type = "catalog.update") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
      select gen_random_uuid(), ${organization}, ${type}, 'catalog_entity', n::text, jsonb_build_object('n', n),
        'user', 'rest' from generate_series(1, ${count}::int) n`
  )

/** Places of an organization's entries in the order in which they were written. */
export const placesOf = (organization = "org_default") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ position: number | null; sequence: number | null }>`select position::int as position,
        event_sequence::int as sequence from outbox_events where organization_id = ${organization}
        order by entry_number`,
      (rows) => rows.map(({ position, sequence }) => [position, sequence] as const)
    ))

/** Numbers from 1. */
export const upTo = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index + 1)
