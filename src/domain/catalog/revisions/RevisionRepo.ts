import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest } from "../../paging/Paging.ts"
import type { Revision, Snapshot } from "./Revision.ts"

/** A revision and the one before it, which says what it changed; `earlier` is null for the oldest that is kept. */
export interface RevisionPair {
  readonly revision: Revision
  readonly earlier: Snapshot | null
}

/** Revisions of entities, which a trigger on the journal writes (`RevisionTablesRepo`). */
export class RevisionRepo extends Context.Service<RevisionRepo, {
  /** Newest first; undefined when there is no such entity. */
  readonly page: (
    entityId: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<RevisionPair> | undefined, never, CurrentActor>
  readonly find: (entityId: string, number: number) => Effect.Effect<Revision | undefined, never, CurrentActor>
  /** Says of the revision that this transaction has made, if it has, which one it restored. */
  readonly markRestored: (entityId: string, number: number) => Effect.Effect<void, never, CurrentActor>
  /** Removes revisions that were superseded so many days ago; gives how many. */
  readonly purge: (limit: number, days: number) => Effect.Effect<number>
}>()("stoa/domain/catalog/revisions/RevisionRepo") {
  static readonly layer = Layer.effect(RevisionRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface RevisionRow {
  readonly organization_id: string
  readonly entity_id: string
  readonly number: number
  readonly snapshot: Snapshot
  readonly changed_by: string | null
  readonly changed_by_type: string | null
  readonly request_id: string | null
  readonly source: string
  readonly restored_from: number | null
  readonly created_at: Date
}

/** The columns of a row; what the trigger keeps for itself is left out. */
const columns = (row: string) =>
  `${row}.organization_id, ${row}.entity_id, ${row}.number, ${row}.snapshot, ${row}.changed_by, ${row}.changed_by_type,
    ${row}.request_id, ${row}.source, ${row}.restored_from, ${row}.created_at`

const toRevision = (row: RevisionRow): Revision => ({
  number: row.number,
  entityId: row.entity_id,
  organizationId: row.organization_id,
  changedBy: row.changed_by,
  changedByType: row.changed_by_type,
  requestId: row.request_id,
  source: row.source,
  restoredFrom: row.restored_from,
  createdAt: row.created_at,
  snapshot: row.snapshot
})

const make = (sql: SqlClient.SqlClient): RevisionRepo["Service"] => {
  const page = Effect.fn("RevisionRepo.page")(function*(entityId: string, request: PageRequest) {
    const organization = yield* currentOrganization
    interface Row extends RevisionRow {
      readonly total: bigint
      readonly earlier: Snapshot | null
    }
    // An entity without revisions, and a page beyond the end, still have their row with the total.
    const rows = yield* sql<Row>`select t.total, ${sql.literal(columns("r"))}, p.snapshot as earlier
      from (select e.id, (select count(*) from entity_revisions where entity_id = e.id
          and organization_id = ${organization}) as total
        from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${organization}) t
      left join lateral (select * from entity_revisions where entity_id = t.id and organization_id = ${organization}
        order by number desc limit ${request.limit} offset ${offsetOf(request)}) r on true
      left join entity_revisions p on p.entity_id = r.entity_id and p.number = r.number - 1
        and p.organization_id = ${organization}
      order by r.number desc`
    if (rows[0] === undefined) return undefined
    const items = rows.filter((row) => row.number !== null).map((row) => ({
      revision: toRevision(row),
      earlier: row.earlier
    }))
    return { ...request, items, total: Number(rows[0].total) }
  }, Effect.orDie)

  const find = Effect.fn("RevisionRepo.find")(function*(entityId: string, number: number) {
    const organization = yield* currentOrganization
    const rows = yield* sql<RevisionRow>`select ${sql.literal(columns("r"))} from entity_revisions r
      where entity_id = ${entityId}::uuid and number = ${number}::int4 and organization_id = ${organization}`
    return rows[0] === undefined ? undefined : toRevision(rows[0])
  }, Effect.orDie)

  const markRestored = Effect.fn("RevisionRepo.markRestored")(function*(entityId: string, number: number) {
    const organization = yield* currentOrganization
    yield* sql`update entity_revisions set restored_from = ${number}::int4
      where entity_id = ${entityId}::uuid and organization_id = ${organization}
        and transaction_id = pg_current_xact_id()`
  }, Effect.orDie)

  const purge = Effect.fn("RevisionRepo.purge")(function*(limit: number, days: number) {
    // Of every organization: what is old is old for all of them.
    const rows = yield* sql`delete from entity_revisions d using (select entity_id, number from entity_revisions
          where superseded_at < now() - ${days}::int4 * interval '1 day'
          order by superseded_at limit ${limit}::int4 for update skip locked) o
        where d.entity_id = o.entity_id and d.number = o.number returning 1`
    return rows.length
  }, Effect.orDie)

  return { page, find, markRestored, purge }
}
