import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import { Audit } from "./Audit.ts"
import { AuditEntry, type AuditFilter, eventsNamed, shortened } from "./AuditEntry.ts"

const columns = columnsOf(AuditEntry.fields, "e", { event: "e.type", position: "e.position::float8" })

const toEntry = (row: AuditEntry): AuditEntry => ({
  ...row,
  payload: shortened(row.payload),
  before: row.before && shortened(row.before)
})

const matching = (sql: SqlClient.SqlClient, organization: string, filter: AuditFilter) =>
  sql.and([
    sql`organization_id = ${organization}`,
    ...(filter.entityType === undefined ? [] : [sql`entity_type = ${filter.entityType}`]),
    ...(filter.entityId === undefined ? [] : [sql`entity_id = ${filter.entityId}`]),
    ...(filter.event === undefined ? [] : [sql`type = any(${[...eventsNamed(filter.event)]}::text[])`]),
    ...(filter.actorId === undefined ? [] : [sql`actor_id = ${filter.actorId}`]),
    ...(filter.from === undefined ? [] : [sql`created_at >= ${filter.from}::timestamptz`]),
    ...(filter.to === undefined ? [] : [sql`created_at <= ${filter.to}::timestamptz`])
  ])

const isUnfiltered = (filter: AuditFilter): boolean => Object.values(filter).every((value) => value === undefined)

/** Reads the change log as the audit trail. */
export const auditLayer = Layer.effect(
  Audit,
  Effect.map(SqlClient.SqlClient, (sql) => {
    /** The head stores the length of a chain; filtered queries count by an index. */
    const count = (organization: string, filter: AuditFilter) =>
      isUnfiltered(filter)
        ? sql<{ readonly total: bigint }>`select
            coalesce((select position - purged_position from outbox_cursors_read where organization_id = ${organization}), 0)
            + (select count(*) from outbox_events_read where position is null and organization_id = ${organization})
            as total`
        : sql<{ readonly total: bigint }>`select
            (select count(*) from outbox_events_read where position is not null and ${
          matching(sql, organization, filter)
        })
            + (select count(*) from outbox_events_read where position is null and ${
          matching(sql, organization, filter)
        })
            as total`

    // Two halves, because the indexes exclude entries without a position, which are few and short-lived.
    const select = (organization: string, filter: AuditFilter, page: PageRequest) => {
      const enough = page.limit + offsetOf(page)
      return sql<AuditEntry>`select ${sql.literal(columns)} from (
          (select * from outbox_events_read where position is not null and ${matching(sql, organization, filter)}
            order by created_at desc, entry_number desc limit ${enough})
          union all
          (select * from outbox_events_read where position is null and ${matching(sql, organization, filter)}
            order by created_at desc, entry_number desc limit ${enough})) e
        order by created_at desc, entry_number desc limit ${page.limit} offset ${offsetOf(page)}`
    }

    const list = Effect.fn("Audit.list")(function*(filter: AuditFilter, page: PageRequest) {
      const organization = yield* currentOrganization
      const [rows, counts] = yield* Effect.all([select(organization, filter, page), count(organization, filter)], {
        concurrency: "unbounded"
      })
      return { ...page, items: rows.map(toEntry), total: Number(counts[0]?.total ?? 0n) }
    }, Effect.orDie)

    return Audit.of({ list })
  })
)
