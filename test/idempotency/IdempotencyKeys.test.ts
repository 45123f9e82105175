import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { IdempotencyKeys } from "../../src/domain/idempotency/IdempotencyKeys.ts"
import { idempotencyRepoLayer } from "../../src/domain/idempotency/IdempotencyRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"

const layer = idempotencyRepoLayer.pipe(Layer.provideMerge(TestDatabase))

it.layer(layer, { excludeTestServices: true })("idempotency keys", (it) => {
  const inStore = (organization: string) => <A, E, R>(body: Effect.Effect<A, E, R>) =>
    Effect.provideService(body, CurrentActor, systemActor(organization))
  const here = inStore("org_default")

  /** As if the process that took the key had died a minute ago. */
  const ownerDies = (key: string) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`update idempotency_keys set locked_until = now() - interval '1 second' where key = ${key}`
    )

  it.effect("let one of ten simultaneous requests work and tell the others that it is running", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claims = yield* Effect.all(
        Array.from({ length: 10 }, () => keys.claim("caller", key, "hash")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(claims.filter(({ _tag }) => _tag === "Claimed").length, 1)
      assert.strictEqual(claims.filter(({ _tag }) => _tag === "Running").length, 9)
    }).pipe(here))

  it.effect("give the stored answer to the same request and refuse another one", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      yield* keys.claim("caller", key, "hash")
      yield* keys.finish("caller", key, 201, "{\"data\":1}")
      assert.deepStrictEqual(yield* keys.claim("caller", key, "hash"), {
        _tag: "Done",
        status: 201,
        body: "{\"data\":1}"
      })
      assert.deepStrictEqual(yield* keys.claim("caller", key, "other"), { _tag: "OtherRequest" })
    }).pipe(here))

  it.effect("are free again once released", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claim = yield* keys.claim("caller", key, "hash")
      yield* keys.release("caller", key, claim._tag === "Claimed" ? claim.workId : "")
      assert.strictEqual((yield* keys.claim("caller", key, "other"))._tag, "Claimed")
    }).pipe(here))

  it.effect("pass to the same request, with the same work, when their owner died", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const first = yield* keys.claim("caller", key, "hash")
      yield* ownerDies(key)
      assert.deepStrictEqual(yield* keys.claim("caller", key, "hash"), first)
      yield* ownerDies(key)
      assert.strictEqual((yield* keys.claim("caller", key, "other"))._tag, "OtherRequest")
    }).pipe(here))

  it.effect("of other callers and other organizations are other keys", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      assert.strictEqual((yield* keys.claim("caller", key, "hash"))._tag, "Claimed")
      assert.strictEqual((yield* keys.claim("another", key, "hash"))._tag, "Claimed")
      assert.strictEqual((yield* inStore("org_other")(keys.claim("caller", key, "hash")))._tag, "Claimed")
    }).pipe(here))

  it.effect("are forgotten after the window and not before", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const sql = yield* SqlClient.SqlClient
      const [old, young] = [newId(), newId()]
      yield* keys.claim("caller", old, "hash")
      yield* keys.claim("caller", young, "hash")
      yield* sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${old}`
      assert.strictEqual(yield* keys.purge(24), 1)
      assert.strictEqual((yield* keys.claim("caller", young, "hash"))._tag, "Running")
    }).pipe(here))

  it.effect("are not freed in the name of work that no longer has them", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      yield* keys.claim("caller", key, "hash")
      yield* keys.release("caller", key, newId())
      assert.strictEqual((yield* keys.claim("caller", key, "hash"))._tag, "Running")
    }).pipe(here))
})
