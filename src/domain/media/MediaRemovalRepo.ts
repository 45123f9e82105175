import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"

/** Files that have to go, or will have to unless their row is written (`migrations.ts`). */
export class MediaRemovalRepo extends Context.Service<MediaRemovalRepo, {
  /** Call it before a file is stored: if the upload dies, the file is removed an hour later. */
  readonly expect: (storageKey: string) => Effect.Effect<void, never, CurrentActor>
  /**
   * Claims up to `limit` due files and returns their keys. A claimed file is due again some minutes later, doubling up
   * to a day, unless `removed` reports it as gone.
   */
  readonly due: (limit: number) => Effect.Effect<ReadonlyArray<string>>
  /** The same for files that were just put on the list. */
  readonly take: (storageKeys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
  readonly removed: (storageKeys: ReadonlyArray<string>) => Effect.Effect<void>
}>()("stoa/domain/media/MediaRemovalRepo") {
  static readonly layer = Layer.effect(MediaRemovalRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const make = (sql: SqlClient.SqlClient): MediaRemovalRepo["Service"] => {
  const expect = Effect.fn("MediaRemovalRepo.expect")(function*(storageKey: string) {
    const organization = yield* currentOrganization
    yield* sql`insert into media_removals (storage_key, organization_id, due_at)
      values (${storageKey}, ${organization}, now() + interval '1 hour')`
  }, Effect.orDie)

  const later = sql.literal("now() + least(interval '1 day', interval '5 minutes' * power(2, attempts))")

  const due = Effect.fn("MediaRemovalRepo.due")(function*(limit: number) {
    const rows = yield* sql<{ readonly storage_key: string }>`update media_removals
      set attempts = attempts + 1, due_at = ${later}
      where storage_key = any(array(select storage_key from media_removals where due_at <= now()
        order by due_at limit ${limit} for update skip locked)) returning storage_key`
    return rows.map((row) => row.storage_key)
  }, Effect.orDie)

  const take = Effect.fn("MediaRemovalRepo.take")(function*(storageKeys: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly storage_key: string }>`update media_removals
      set attempts = attempts + 1, due_at = ${later}
      where storage_key = any(array(select storage_key from media_removals
        where storage_key = any(${storageKeys}::text[]) and organization_id = ${organization}
          and due_at <= now() for update skip locked)) returning storage_key`
    return rows.map((row) => row.storage_key)
  }, Effect.orDie)

  const removed = Effect.fn("MediaRemovalRepo.removed")(function*(storageKeys: ReadonlyArray<string>) {
    if (storageKeys.length > 0) yield* sql`delete from media_removals where storage_key = any(${storageKeys}::text[])`
  }, Effect.orDie)

  return { expect, due, take, removed }
}
