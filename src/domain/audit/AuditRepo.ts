import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { nextCursorOf, pageParts } from "../platform/paging/CursorRepo.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoderOf, decoding, plainRows } from "../platform/records/Rows.ts"
import { columnsOf } from "../platform/records/Table.ts"
import { Audit, AuditEntry, type AuditFilter, eventsNamed, shortened } from "./Audit.ts"

const columns = columnsOf(AuditEntry.fields, "e", { event: "e.type" })
const decode = decoderOf(AuditEntry)

const matching = (sql: SqlClient.SqlClient, organization: string, filter: AuditFilter) => {
  const { actorId, entityId, entityType, event, from, to } = filter
  return sql.and([
    sql`organization_id = ${organization}`,
    ...(entityType === undefined ? [] : [sql`entity_type = ${entityType}`]),
    ...(entityId === undefined ? [] : [sql`entity_id = ${entityId}`]),
    ...(event === undefined ? [] : [sql`type = any(${[...eventsNamed(event)]}::text[])`]),
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}::timestamptz`])
  ])
}

export const auditLayer = Layer.effect(
  Audit,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const totals = decoding(sql, Schema.Struct({ total: Schema.Number }))

    const list = Effect.fn("Audit.list")(function*(filter: AuditFilter, page: PageRequest) {
      const organization = yield* currentOrganization
      const mine = matching(sql, organization, filter)
      const isUnfiltered = Object.values(filter).every((value) => value === undefined)
      const { cursor, slice } = pageParts(sql, page, { time: "e.created_at", id: "e.id" })
      const after = page.cursor === undefined
        ? sql`true`
        : sql`(created_at, entry_number) < (${page.cursor.at}::timestamptz, (
            select entry_number from outbox_events_read where id = ${page.cursor.id}::uuid))`
      // Two halves, because the indexes exclude entries without a position, which are few and short-lived.
      const half = (isRelayed: boolean) =>
        sql`outbox_events where position is ${sql.literal(isRelayed ? "not null" : "null")} and ${mine}`
      // The cursor stores the length of a chain; filtered queries count by an index.
      const relayed = isUnfiltered
        ? sql`coalesce((select position - purged_position from outbox_cursors_read where organization_id = ${organization}), 0)`
        : sql`(select count(*) from ${half(true)})`
      const newest = (isRelayed: boolean) =>
        sql`(select * from ${half(isRelayed)} and ${after}
          order by created_at desc, entry_number desc limit ${page.limit + offsetOf(page)})`
      const [rows, [counted]] = yield* Effect.all([
        sql`select ${sql.literal(columns)} ${cursor} from (${newest(true)} union all ${newest(false)}) e
          order by created_at desc, entry_number desc ${slice}`,
        totals`select ${relayed} + (select count(*) from ${half(false)}) as total`
      ], { concurrency: "unbounded" })
      return {
        ...page,
        items: decode(plainRows(rows)).map((entry) => ({
          ...entry,
          payload: shortened(entry.payload),
          before: entry.before && shortened(entry.before)
        })),
        total: counted?.total ?? 0,
        nextCursor: nextCursorOf(rows, page)
      }
    }, Effect.orDie)

    return Audit.of({ list })
  })
)
