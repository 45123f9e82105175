import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"
import { currentOrganization } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import { decoding } from "../records/Rows.ts"
import { type Claim, IdempotencyKeys } from "./IdempotencyKeys.ts"

const cipher = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

export const keyDigest = (scope: string, key: string): string =>
  createHash("sha256").update(`${scope}\n${key}`).digest("hex")

/** A random id: the same key used twice encrypts under different secrets. */
const secretOf = (key: string, executionId: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, executionId, "stoa idempotency answer", 32))

/** Encrypts a response under its key, which only the client has: it may hold a secret, such as that of a new cart. */
export const encrypt = (key: string, executionId: string, answer: string): string => {
  const nonce = randomBytes(nonceBytes)
  const encipher = createCipheriv(cipher, secretOf(key, executionId), nonce)
  const encrypted = [encipher.update(answer, "utf8"), encipher.final()]
  return Buffer.concat([nonce, encipher.getAuthTag(), ...encrypted]).toString("base64")
}

export const decrypt = (key: string, executionId: string, encrypted: string): string => {
  const bytes = Buffer.from(encrypted, "base64")
  const decipher = createDecipheriv(cipher, secretOf(key, executionId), bytes.subarray(0, nonceBytes))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8")
}

const KeyRow = Schema.Struct({
  claimed: Schema.Boolean,
  request_hash: Schema.String,
  execution_id: Schema.String,
  status: Schema.String,
  response_status: Schema.NullOr(Schema.Int),
  encrypted_response: Schema.NullOr(Schema.String),
  abandoned: Schema.Boolean,
  carried_out: Schema.Boolean
})

/** A retry after a crash must succeed within the time of a fail-over. */
const lease = "8 seconds"

const toClaim = (row: typeof KeyRow.Type, key: string, requestHash: string, newExecution: string): Claim => {
  if (row.claimed) {
    return { _tag: "Claimed", executionId: row.execution_id, isRepeat: row.execution_id !== newExecution }
  }
  if (row.request_hash !== requestHash) return { _tag: "OtherRequest" }
  if (row.status === "running") {
    return row.abandoned
      ? { _tag: "InDoubt", carriedOut: row.carried_out }
      : { _tag: "Running", executionId: row.execution_id }
  }
  const body = row.encrypted_response === null ? "" : decrypt(key, row.execution_id, row.encrypted_response)
  return { _tag: "Done", status: row.response_status ?? 200, body }
}

/** Repeatable work would have claimed it like this. */
const isFree = ({ abandoned, carried_out, request_hash, status }: typeof KeyRow.Type, requestHash: string): boolean =>
  status === "running" && abandoned && !carried_out && request_hash === requestHash

/** Claims a free key, or one with an expired lease if the work is repeatable and has changed nothing. */
const makeClaim = (sql: SqlClient.SqlClient) => {
  const rows = decoding(sql, KeyRow)
  const tryClaim = (
    organization: string,
    scope: string,
    digest: string,
    requestHash: string,
    repeatable: boolean,
    newExecution: string
  ) =>
    rows`with mine as (
        insert into idempotency_keys as k
          (organization_id, scope, key_digest, request_hash, execution_id, status, locked_until)
        values (${organization}, ${scope}, ${digest}, ${requestHash}, ${newExecution}::uuid, 'running',
          now() + ${lease}::interval)
        on conflict (organization_id, scope, key_digest) do update set locked_until = excluded.locked_until
          where k.status = 'running' and k.locked_until < now() and k.request_hash = excluded.request_hash
            and ${repeatable}::boolean and not exists (select 1 from idempotency_records c
              where c.organization_id = k.organization_id and c.execution_id = k.execution_id)
        returning true as claimed, request_hash, execution_id, status, response_status, encrypted_response, false as abandoned,
          false as carried_out)
      select * from mine
      union all
      select false, request_hash, execution_id, status, response_status, encrypted_response, locked_until < now(),
        exists (select 1 from idempotency_records c where c.organization_id = k.organization_id and c.execution_id = k.execution_id)
      from idempotency_keys k
      where organization_id = ${organization} and scope = ${scope} and key_digest = ${digest}
        and not exists (select 1 from mine)`
  return Effect.fn("IdempotencyRepo.claim")(
    function*(scope: string, key: string, requestHash: string, repeatable: boolean) {
      const organization = yield* currentOrganization
      const digest = keyDigest(scope, key)
      const newExecution = newId()
      for (;;) {
        const [row] = yield* tryClaim(organization, scope, digest, requestHash, repeatable, newExecution)
        const isMissed = row === undefined || (repeatable && !row.claimed && isFree(row, requestHash))
        if (!isMissed) return toClaim(row, key, requestHash, newExecution)
        // The owner released or finished the key between the two halves of the statement.
      }
    },
    Effect.orDie
  )
}

const makePurge = (sql: SqlClient.SqlClient) => {
  const purgeOf = (table: "idempotency_keys" | "idempotency_records", hours: number) =>
    sql`delete from ${sql(table)} where ctid = any(array(
      select ctid from ${sql(table)} where created_at < now() - make_interval(hours => ${hours})
      order by created_at limit 1000)) returning 1`
  return Effect.fn("IdempotencyRepo.purge")(function*(olderThanHours: number) {
    const keys = yield* purgeOf("idempotency_keys", olderThanHours)
    // Records are younger than their keys, so no key outlives its record.
    const records = yield* purgeOf("idempotency_records", olderThanHours)
    return keys.length + records.length
  }, Effect.orDie)
}

export const idempotencyRepoLayer: Layer.Layer<IdempotencyKeys, never, SqlClient.SqlClient> = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const named = (organization: string, scope: string, key: string) =>
      sql`organization_id = ${organization} and scope = ${scope} and key_digest = ${keyDigest(scope, key)}`

    const renew = Effect.fn("IdempotencyRepo.renew")(function*(scope: string, key: string) {
      const organization = yield* currentOrganization
      yield* sql`update idempotency_keys set locked_until = now() + ${lease}::interval
        where ${named(organization, scope, key)} and status = 'running'`
    }, Effect.orDie)
    const finish = Effect.fn("IdempotencyRepo.finish")(
      function*(scope: string, key: string, executionId: string, status: number, body: string) {
        const organization = yield* currentOrganization
        yield* sql`update idempotency_keys set status = 'done', response_status = ${status},
            encrypted_response = ${encrypt(key, executionId, body)}
          where ${named(organization, scope, key)} and execution_id = ${executionId}::uuid`
      },
      Effect.orDie
    )
    const release = Effect.fn("IdempotencyRepo.release")(function*(scope: string, key: string, executionId: string) {
      const organization = yield* currentOrganization
      // Of two requests with the same failure, the slower must not release a key that a third has claimed.
      yield* sql`delete from idempotency_keys
        where ${named(organization, scope, key)} and execution_id = ${executionId}::uuid and status = 'running'`
    }, Effect.orDie)
    const doubt = Effect.fn("IdempotencyRepo.doubt")(function*(scope: string, key: string, executionId: string) {
      const organization = yield* currentOrganization
      yield* sql`update idempotency_keys set locked_until = now() - interval '1 second'
        where ${named(organization, scope, key)} and execution_id = ${executionId}::uuid and status = 'running'`
    }, Effect.orDie)
    return IdempotencyKeys.of({ claim: makeClaim(sql), renew, finish, release, doubt, purge: makePurge(sql) })
  })
)
