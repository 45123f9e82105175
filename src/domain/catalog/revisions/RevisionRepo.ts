import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../access/Actor.ts"
import { offsetOf, type PageRequest } from "../../paging/Paging.ts"
import { columnsOf } from "../../records/Columns.ts"
import { Revision, type Snapshot } from "./Revision.ts"

/** Revisions of entities. A trigger on the change log writes them (`RevisionTablesRepo`). */
export class RevisionRepo extends Context.Service<RevisionRepo>()("stoa/domain/catalog/revisions/RevisionRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(RevisionRepo, RevisionRepo.make)
}

const columns = columnsOf(Revision.fields, "r")

const make = (sql: SqlClient.SqlClient) => {
  /**
   * Each revision with the snapshot before it, null for the oldest stored one. Newest first; undefined when there is no
   * such entity.
   */
  const page = Effect.fn("RevisionRepo.page")(function*(entityId: string, request: PageRequest) {
    const organization = yield* currentOrganization
    interface Row extends Revision {
      readonly total: bigint
      readonly earlier: Snapshot | null
    }
    // An entity without revisions, and a page beyond the end, still give one row with the total.
    const rows = yield* sql<Row>`select t.total, ${sql.literal(columns)}, p.snapshot as earlier
      from (select e.id, (select count(*) from entity_revisions where entity_id = e.id
          and organization_id = ${organization}) as total
        from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${organization}) t
      left join lateral (select * from entity_revisions where entity_id = t.id and organization_id = ${organization}
        order by number desc limit ${request.limit} offset ${offsetOf(request)}) r on true
      left join entity_revisions p on p.entity_id = r.entity_id and p.number = r.number - 1
        and p.organization_id = ${organization}
      order by r.number desc`
    if (rows[0] === undefined) return undefined
    const items = rows.filter((row) => row.number !== null).map(({ earlier, total: _, ...revision }) => ({
      revision,
      earlier
    }))
    return { ...request, items, total: Number(rows[0].total) }
  }, Effect.orDie)

  const find = Effect.fn("RevisionRepo.find")(function*(entityId: string, number: number) {
    const organization = yield* currentOrganization
    const rows = yield* sql<Revision>`select ${sql.literal(columns)} from entity_revisions r
      where entity_id = ${entityId}::uuid and number = ${number}::int4 and organization_id = ${organization}`
    return rows[0]
  }, Effect.orDie)

  /** Records on the revision of this transaction, if there is one, which revision it restored. */
  const markRestored = Effect.fn("RevisionRepo.markRestored")(function*(entityId: string, number: number) {
    const organization = yield* currentOrganization
    yield* sql`update entity_revisions set restored_from = ${number}::int4
      where entity_id = ${entityId}::uuid and organization_id = ${organization}
        and transaction_id = pg_current_xact_id()`
  }, Effect.orDie)

  /** Deletes revisions superseded more than `days` ago; returns their number. */
  const purge = Effect.fn("RevisionRepo.purge")(function*(limit: number, days: number) {
    // Of every organization.
    const rows = yield* sql`delete from entity_revisions d using (select entity_id, number from entity_revisions
          where superseded_at < now() - ${days}::int4 * interval '1 day'
          order by superseded_at limit ${limit}::int4 for update skip locked) o
        where d.entity_id = o.entity_id and d.number = o.number returning 1`
    return rows.length
  }, Effect.orDie)

  return { page, find, markRestored, purge }
}
