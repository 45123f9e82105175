import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { deleteRecorded } from "../../src/domain/platform/events/ChangeLogRepo.ts"
import { IdempotencyKeys } from "../../src/domain/platform/idempotency/IdempotencyKeys.ts"
import { idempotencyRecord } from "../../src/domain/platform/idempotency/IdempotencyRecordRepo.ts"
import { idempotencyRepoLayer, keyDigest } from "../../src/domain/platform/idempotency/IdempotencyRepo.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { Table } from "../../src/domain/platform/records/Table.ts"
import { TaxClass } from "../../src/domain/tax/TaxClass.ts"
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
      (sql) =>
        sql`update idempotency_keys set locked_until = now() - interval '1 second' where key_digest = ${
          keyDigest("caller", key)
        }`
    )

  /** A statement that changes something for the work of a key. */
  const change = Effect.fnUntraced(function*(executionId: string | undefined) {
    const sql = yield* SqlClient.SqlClient
    const actor = { ...systemActor("org_default"), executionId }
    yield* sql`with change as (select 1)${idempotencyRecord(sql, actor, "change")} select 1`
  })

  it.effect("delete nothing a second time: a row whose deletion cannot be recorded stays", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [id, executionId] = [newId(), newId()]
      yield* change(executionId)
      yield* sql`insert into organizations (id, name, slug) values ('org_default', 'D', 'org_default') on conflict do nothing`
      yield* sql`insert into tax_classes (id, organization_id, name, rate_bps)
        values (${id}::uuid, 'org_default', 'Kept', 100)`
      const recorded = () =>
        ({ type: "taxClasses.delete", entityType: "tax_class", entityId: id, payload: {}, before: {} }) as const
      const again = deleteRecorded(sql, new Table("tax_classes", TaxClass), id, recorded).pipe(
        Effect.provideService(CurrentActor, { ...systemActor("org_default"), executionId })
      )
      assert.isTrue(Exit.isFailure(yield* Effect.exit(again)))
      assert.lengthOf(yield* sql`select 1 from tax_classes where id = ${id}::uuid`, 1)
    }))

  it.effect("let one of ten simultaneous requests work and report to the others that it is running", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claims = yield* Effect.all(
        Array.from({ length: 10 }, () => keys.claim("caller", key, "hash", true)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(claims.filter(({ _tag }) => _tag === "Claimed").length, 1)
      assert.strictEqual(claims.filter(({ _tag }) => _tag === "Running").length, 9)
    }).pipe(here))

  it.effect("give the stored answer to the same request and refuse another one", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claim = yield* keys.claim("caller", key, "hash", true)
      yield* keys.finish("caller", key, claim._tag === "Claimed" ? claim.executionId : "", 201, "{\"data\":1}")
      assert.deepStrictEqual(yield* keys.claim("caller", key, "hash", true), {
        _tag: "Done",
        status: 201,
        body: "{\"data\":1}"
      })
      assert.deepStrictEqual(yield* keys.claim("caller", key, "other", true), { _tag: "OtherRequest" })
    }).pipe(here))

  it.effect("are free again once released", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const claim = yield* keys.claim("caller", key, "hash", true)
      yield* keys.release("caller", key, claim._tag === "Claimed" ? claim.executionId : "")
      assert.strictEqual((yield* keys.claim("caller", key, "other", true))._tag, "Claimed")
    }).pipe(here))

  it.effect("pass to the same request, with the same work, when their owner died", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      const first = yield* keys.claim("caller", key, "hash", true)
      assert.deepInclude(first, { _tag: "Claimed", isRepeat: false })
      yield* ownerDies(key)
      const executionId = first._tag === "Claimed" ? first.executionId : ""
      const again = yield* keys.claim("caller", key, "hash", true)
      assert.deepStrictEqual(again, { _tag: "Claimed", executionId, isRepeat: true })
      yield* ownerDies(key)
      assert.strictEqual((yield* keys.claim("caller", key, "other", true))._tag, "OtherRequest")
    }).pipe(here))

  it.effect("whose work is not repeatable are in doubt when their owner died", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      yield* keys.claim("caller", key, "hash", false)
      assert.strictEqual((yield* keys.claim("caller", key, "hash", false))._tag, "Running")
      yield* ownerDies(key)
      assert.deepStrictEqual(yield* keys.claim("caller", key, "hash", false), { _tag: "InDoubt", carriedOut: false })
      assert.deepStrictEqual(yield* keys.claim("caller", key, "other", false), { _tag: "OtherRequest" })
    }).pipe(here))

  it.effect("whose change was made are in doubt when their owner died or reports doubt", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      for (const isLost of [ownerDies, (key: string, executionId: string) => keys.doubt("caller", key, executionId)]) {
        const key = newId()
        const claim = yield* keys.claim("caller", key, "hash", true)
        if (claim._tag !== "Claimed") return assert.fail(claim._tag)
        yield* change(claim.executionId)
        yield* isLost(key, claim.executionId)
        assert.deepStrictEqual(yield* keys.claim("caller", key, "hash", true), { _tag: "InDoubt", carriedOut: true })
      }
    }).pipe(here))

  it.effect("let no change be made twice, by any process at any time", () =>
    Effect.gen(function*() {
      const executionId = newId()
      const changes = yield* Effect.all([change(executionId), change(executionId)].map(Effect.exit), { concurrency: 2 })
      assert.deepStrictEqual(changes.map(({ _tag }) => _tag).sort(), ["Failure", "Success"])
      assert.strictEqual((yield* Effect.exit(change(executionId)))._tag, "Failure")
      yield* change(undefined)
      yield* change(undefined)
    }).pipe(here))

  it.effect("of other callers and other organizations are other keys", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      assert.strictEqual((yield* keys.claim("caller", key, "hash", true))._tag, "Claimed")
      assert.strictEqual((yield* keys.claim("another", key, "hash", true))._tag, "Claimed")
      assert.strictEqual((yield* inStore("org_other")(keys.claim("caller", key, "hash", true)))._tag, "Claimed")
    }).pipe(here))

  it.effect("are deleted after the window and not before", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const sql = yield* SqlClient.SqlClient
      const [old, young] = [newId(), newId()]
      yield* keys.claim("caller", old, "hash", true)
      yield* keys.claim("caller", young, "hash", true)
      yield* sql`update idempotency_keys set created_at = now() - interval '25 hours' where key_digest = ${
        keyDigest("caller", old)
      }`
      assert.strictEqual(yield* keys.purge(24), 1)
      assert.strictEqual((yield* keys.claim("caller", young, "hash", true))._tag, "Running")
    }).pipe(here))

  it.effect("are not released by an execution that no longer holds them", () =>
    Effect.gen(function*() {
      const keys = yield* IdempotencyKeys
      const key = newId()
      yield* keys.claim("caller", key, "hash", true)
      yield* keys.release("caller", key, newId())
      assert.strictEqual((yield* keys.claim("caller", key, "hash", true))._tag, "Running")
    }).pipe(here))
})
