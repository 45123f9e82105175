import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { type AuditEntry, type AuditFilter, eventsNamed, shortened } from "./AuditEntry.ts"

/** Reads the change log as the audit trail. */
export class AuditRepo extends Context.Service<AuditRepo, {
  /** A page of entries, newest first; includes changes as soon as they are committed. */
  readonly list: (filter: AuditFilter, page: PageRequest) => Effect.Effect<PageOf<AuditEntry>, never, CurrentActor>
}>()("stoa/domain/audit/AuditRepo") {}

interface EntryRow {
  readonly id: string
  readonly organization_id: string
  readonly entity_type: string
  readonly entity_id: string
  readonly type: string
  readonly payload: object
  readonly before: object | null
  readonly actor_id: string | null
  readonly actor_type: AuditEntry["actorType"]
  readonly request_id: string | null
  readonly ip: string | null
  readonly user_agent: string | null
  readonly source: AuditEntry["source"]
  readonly position: bigint | null
  readonly created_at: Date
}

const toEntry = (row: EntryRow): AuditEntry => ({
  id: row.id,
  organizationId: row.organization_id,
  entityType: row.entity_type,
  entityId: row.entity_id,
  event: row.type,
  payload: shortened(row.payload),
  before: row.before === null ? null : shortened(row.before),
  actorId: row.actor_id,
  actorType: row.actor_type,
  requestId: row.request_id,
  ip: row.ip,
  userAgent: row.user_agent,
  source: row.source,
  position: row.position === null ? null : Number(row.position),
  createdAt: row.created_at
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

/** `AuditRepo` over the database of the process. */
export const auditRepoLayer = Layer.effect(
  AuditRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    /** The head stores the length of a chain; filtered queries count by an index. */
    const count = (organization: string, filter: AuditFilter) =>
      isUnfiltered(filter)
        ? sql<{ readonly total: bigint }>`select
            coalesce((select position - purged_position from outbox_cursors where organization_id = ${organization}), 0)
            + (select count(*) from outbox_events where position is null and organization_id = ${organization})
            as total`
        : sql<{ readonly total: bigint }>`select
            (select count(*) from outbox_events where position is not null and ${matching(sql, organization, filter)})
            + (select count(*) from outbox_events where position is null and ${matching(sql, organization, filter)})
            as total`

    // Two halves, because the indexes exclude entries without a position, which are few and short-lived.
    const select = (organization: string, filter: AuditFilter, page: PageRequest) => {
      const enough = page.limit + offsetOf(page)
      return sql<EntryRow>`select * from (
          (select * from outbox_events where position is not null and ${matching(sql, organization, filter)}
            order by created_at desc, entry_number desc limit ${enough})
          union all
          (select * from outbox_events where position is null and ${matching(sql, organization, filter)}
            order by created_at desc, entry_number desc limit ${enough})) e
        order by created_at desc, entry_number desc limit ${page.limit} offset ${offsetOf(page)}`
    }

    const list = Effect.fn("AuditRepo.list")(function*(filter: AuditFilter, page: PageRequest) {
      const organization = yield* currentOrganization
      const [rows, counts] = yield* Effect.all([select(organization, filter, page), count(organization, filter)], {
        concurrency: "unbounded"
      })
      return { ...page, items: rows.map(toEntry), total: Number(counts[0]?.total ?? 0n) }
    }, Effect.orDie)

    return AuditRepo.of({ list })
  })
)
