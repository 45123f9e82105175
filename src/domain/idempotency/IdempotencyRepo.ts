import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import { type Claim, IdempotencyKeys } from "./IdempotencyKeys.ts"

interface KeyRow {
  readonly claimed: boolean
  readonly request_hash: string
  readonly work_id: string
  readonly status: string
  readonly response_status: number | null
  readonly response_body: string | null
}

/**
 * A claim is a short lease that its owner renews while it works: the process that took it may die, and then the same
 * request must be able to come again, within the time of a fail-over.
 */
const lease = "8 seconds"

const toClaim = (row: KeyRow, requestHash: string): Claim => {
  if (row.claimed) return { _tag: "Claimed", workId: row.work_id }
  if (row.request_hash !== requestHash) return { _tag: "OtherRequest" }
  return row.status === "done"
    ? { _tag: "Done", status: row.response_status ?? 200, body: row.response_body ?? "" }
    : { _tag: "Running", workId: row.work_id }
}

export const idempotencyRepoLayer: Layer.Layer<IdempotencyKeys, never, SqlClient.SqlClient> = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const tryClaim = (organization: string, scope: string, key: string, requestHash: string) =>
      sql<KeyRow>`with mine as (
          insert into idempotency_keys as k (organization_id, scope, key, request_hash, work_id, status, locked_until)
          values (${organization}, ${scope}, ${key}, ${requestHash}, ${newId()}::uuid, 'running', now() + ${lease}::interval)
          on conflict (organization_id, scope, key) do update set locked_until = excluded.locked_until
            where k.status = 'running' and k.locked_until < now() and k.request_hash = excluded.request_hash
          returning true as claimed, request_hash, work_id, status, response_status, response_body)
        select * from mine
        union all
        select false, request_hash, work_id, status, response_status, response_body from idempotency_keys
        where organization_id = ${organization} and scope = ${scope} and key = ${key} and not exists (select 1 from mine)`
    const claim = Effect.fn("IdempotencyRepo.claim")(function*(scope: string, key: string, requestHash: string) {
      const organization = yield* currentOrganization
      for (;;) {
        const [row] = yield* tryClaim(organization, scope, key, requestHash)
        if (row !== undefined) return toClaim(row, requestHash)
        // The owner released the key between the two halves of the statement: it can be had now.
      }
    }, Effect.orDie)
    const renew = Effect.fn("IdempotencyRepo.renew")(function*(scope: string, key: string) {
      const organization = yield* currentOrganization
      yield* sql`update idempotency_keys set locked_until = now() + ${lease}::interval
        where organization_id = ${organization} and scope = ${scope} and key = ${key} and status = 'running'`
    }, Effect.orDie)
    const finish = Effect.fn("IdempotencyRepo.finish")(
      function*(scope: string, key: string, status: number, body: string) {
        const organization = yield* currentOrganization
        yield* sql`update idempotency_keys set status = 'done', response_status = ${status}, response_body = ${body}
          where organization_id = ${organization} and scope = ${scope} and key = ${key}`
      },
      Effect.orDie
    )
    const release = Effect.fn("IdempotencyRepo.release")(function*(scope: string, key: string, workId: string) {
      const organization = yield* currentOrganization
      // Two requests may learn that the same work failed; the slower one must not free the key that a third has taken.
      yield* sql`delete from idempotency_keys where organization_id = ${organization} and scope = ${scope}
        and key = ${key} and work_id = ${workId}::uuid and status = 'running'`
    }, Effect.orDie)
    const purge = Effect.fn("IdempotencyRepo.purge")(function*(olderThanHours: number) {
      const rows = yield* sql`delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where created_at < now() - make_interval(hours => ${olderThanHours})
        order by created_at limit 1000)) returning 1`
      return rows.length
    }, Effect.orDie)
    return IdempotencyKeys.of({ claim, renew, finish, release, purge })
  })
)
