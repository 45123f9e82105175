import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Removes old entries from the change log. */
export class ChangeLogPurgeRepo extends Context.Service<ChangeLogPurgeRepo>()("stoa/domain/events/ChangeLogPurgeRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /**
     * Finds and locks the next organization with entries to purge, and the position up to which all entries are old
     * enough. Waits for the relay, which locks a cursor only briefly.
     */
    const due = (limit: number, days: number) =>
      sql<{ readonly organization: string; readonly upto: bigint }>`select h.organization_id as organization, old.upto
      from outbox_cursors h
        join outbox_events first on first.organization_id = h.organization_id
          and first.position = h.purged_position + 1 and first.created_at < now() - make_interval(days => ${days})
        cross join lateral (select coalesce(min(e.position) filter (where e.created_at >= now()
              - make_interval(days => ${days})) - 1, max(e.position)) as upto
          from (select position, created_at from outbox_events n where n.organization_id = h.organization_id
            and n.position > h.purged_position order by n.position limit ${limit}) e) old
        limit 1 for update of h`

    const purgeOne = Effect.fnUntraced(function*(limit: number, days: number) {
      const [next] = yield* due(limit, days)
      if (next === undefined) return 0
      const { organization, upto } = next
      yield* sql`select set_config('stoa.outbox_purge', 'on', true)`
      // Update the cursor first: the trigger refuses deletes past its position.
      yield* sql`update outbox_cursors set purged_position = ${upto}::bigint where organization_id = ${organization}`
      const gone = yield* sql`delete from outbox_events where organization_id = ${organization}
        and position <= ${upto}::bigint returning 1`
      return gone.length
    })

    /**
     * Deletes the oldest entries of all organizations that are older than this, at most `limit` per call, and returns
     * how many. `outbox_cursors` counts the purged entries, which the audit trail subtracts from its total.
     */
    const purge = Effect.fn("ChangeLogPurgeRepo.purge")(function*(limit: number, olderThanDays: number) {
      let purged = 0
      while (purged < limit) {
        const count = yield* sql.withTransaction(purgeOne(limit - purged, olderThanDays))
        if (count === 0) break
        purged += count
      }
      return purged
    }, Effect.orDie)

    return { purge }
  })
}) {
  static readonly layer = Layer.effect(ChangeLogPurgeRepo, ChangeLogPurgeRepo.make)
}
