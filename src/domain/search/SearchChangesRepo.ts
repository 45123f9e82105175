import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The record of transactions that have changed what searches find (`search_changes`), and of what was before (`search_former`). */
export class SearchChangesRepo extends Context.Service<SearchChangesRepo, {
  /** Makes one row of those of an organization, of at most `limit` rows at once; gives how many it removed. */
  readonly purge: (limit: number) => Effect.Effect<number>
}>()("stoa/domain/search/SearchChangesRepo") {}

/** `SearchChangesRepo` over the database of the process. */
export const searchChangesRepoLayer = Layer.effect(
  SearchChangesRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    // The purge stands for what it removes: whoever remembers an answer from before one of those changes, has not seen
    // the purge either, and asks anew. So nobody has to know how long answers are remembered.
    const purge = Effect.fn("SearchChangesRepo.purge")(function*(limit: number) {
      const [row] = yield* sql<{ readonly removed: number }>`with gone as (
          delete from search_changes where ctid = any(array(select c.ctid from search_changes c
            where exists (select 1 from search_changes o where o.organization_id = c.organization_id and o.xid <> c.xid)
            limit ${limit}))
          returning organization_id, xid),
        former as (delete from search_former f using gone where f.organization_id = gone.organization_id and f.xid = gone.xid),
        standing as (insert into search_changes (organization_id) select distinct organization_id from gone)
        select count(*)::int4 as removed from gone`
      return row?.removed ?? 0
    }, Effect.orDie)

    return SearchChangesRepo.of({ purge })
  })
)
