import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { IdempotencyKeys } from "../../src/domain/platform/idempotency/IdempotencyKeys.ts"
import { idempotencyRepoLayer, keyDigest } from "../../src/domain/platform/idempotency/IdempotencyRepo.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { atOnce } from "../support/AtOnce.ts"
import { TestDatabase } from "../support/Postgres.ts"

const database = Layer.provideMerge(idempotencyRepoLayer, TestDatabase)
const here = Effect.provideService(CurrentActor, systemActor("org_default"))

layer(database, { excludeTestServices: true })("an idempotency key", (it) => {
  it.effect("that two requests want in the same moment is one work for both", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const [key, executionId] = [newId(), newId()]
      // The claim begins before the first request's key can be seen.
      const claims = yield* atOnce(
        (sql) =>
          sql`insert into idempotency_keys (organization_id, scope, key_digest, request_hash, execution_id, status, locked_until)
            values ('org_default', 'scope', ${keyDigest("scope", key)}, 'hash', ${executionId}::uuid, 'running',
              now() + interval '1 minute')`,
        [keys.claim("scope", key, "hash", true)]
      )
      assert.deepStrictEqual(claims, [{ _tag: "Running", executionId }])
    }).pipe(here))

  it.effect("whose work ends while a repeat claims it, after its lease, gives the repeat the answer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claim = yield* keys.claim("scope", key, "hash", true)
      const executionId = claim._tag === "Claimed" ? claim.executionId : assert.fail(claim._tag)
      yield* sql`update idempotency_keys set locked_until = now() - interval '1 second'
        where key_digest = ${keyDigest("scope", key)}`
      // The repeat sees the key as it was before, and waits for its owner.
      const claims = yield* atOnce(
        () => here(keys.finish("scope", key, executionId, 201, "answer")),
        [keys.claim("scope", key, "hash", true)]
      )
      assert.deepStrictEqual(claims, [{ _tag: "Done", status: 201, body: "answer" }])
    }).pipe(here))
})
