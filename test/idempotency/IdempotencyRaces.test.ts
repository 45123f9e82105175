import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { IdempotencyKeys } from "../../src/domain/platform/idempotency/IdempotencyKeys.ts"
import { idempotencyRepoLayer, keyDigest } from "../../src/domain/platform/idempotency/IdempotencyRepo.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { waiting } from "../support/AtOnce.ts"
import { TestDatabase } from "../support/Postgres.ts"

const database = Layer.provideMerge(idempotencyRepoLayer, TestDatabase)

layer(database, { excludeTestServices: true })("an idempotency key", (it) => {
  it.effect("that two requests want in the same moment is one work for both", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* IdempotencyKeys
      const [key, executionId] = [newId(), newId()]
      const [taken, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const first = yield* Effect.forkChild(sql.withTransaction(
        sql`insert into idempotency_keys (organization_id, scope, key_digest, request_hash, execution_id, status, locked_until)
          values ('org_default', 'scope', ${
          keyDigest("scope", key)
        }, 'hash', ${executionId}::uuid, 'running', now() + interval '1 minute')`
          .pipe(
            Effect.andThen(Deferred.succeed(taken, undefined)),
            Effect.andThen(Deferred.await(commit))
          )
      ))
      yield* Deferred.await(taken)
      // It begins before the first request's key can be seen and waits for it.
      const second = yield* Effect.forkChild(keys.claim("scope", key, "hash", true))
      yield* waiting(1)
      yield* Deferred.succeed(commit, undefined)
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* Fiber.join(second), { _tag: "Running", executionId })
    }).pipe(Effect.provideService(CurrentActor, systemActor("org_default"))))

  it.effect("whose work ends while a repeat claims it, after its lease, gives the repeat the answer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claim = yield* keys.claim("scope", key, "hash", true)
      const executionId = claim._tag === "Claimed" ? claim.executionId : assert.fail(claim._tag)
      yield* sql`update idempotency_keys set locked_until = now() - interval '1 second'
        where key_digest = ${keyDigest("scope", key)}`
      const [ended, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const owner = yield* Effect.forkChild(sql.withTransaction(
        keys.finish("scope", key, executionId, 201, "answer").pipe(
          Effect.andThen(Deferred.succeed(ended, undefined)),
          Effect.andThen(Deferred.await(commit))
        )
      ))
      yield* Deferred.await(ended)
      // It sees the key as it was before, and waits for the owner.
      const repeat = yield* Effect.forkChild(keys.claim("scope", key, "hash", true))
      yield* waiting(1)
      yield* Deferred.succeed(commit, undefined)
      yield* Fiber.join(owner)
      assert.deepStrictEqual(yield* Fiber.join(repeat), { _tag: "Done", status: 201, body: "answer" })
    }).pipe(Effect.provideService(CurrentActor, systemActor("org_default"))))
})
