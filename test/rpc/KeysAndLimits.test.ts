import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { RpcClient } from "effect/rpc"
import { EntityId } from "../../src/domain/platform/ids/Id.ts"
import { aKey, signIn } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { lastingRates } from "../support/LastingRates.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer, withApp } from "../support/TestApp.ts"
import { clientAs, clientOf, clientWith } from "./Calls.ts"
import { rawSocket } from "./RawSocket.ts"

/** The first recorded change of a record. */
const changeOf = (entityId: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ source: string; request_id: string; user_agent: string }>`select source, request_id, user_agent
        from outbox_events where entity_id = ${entityId} order by id`
    ),
    ([entry]) => entry
  )

withApp("a caller", (it) => {
  it.effect("is identified by the API key, acts in its organization, and is named in the change log", () =>
    Effect.gen(function*() {
      const { organizationId } = yield* anOrganization
      const { key } = yield* aKey({ role: "admin", organization: organizationId })
      const rpc = yield* clientOf(key)
      const made = yield* rpc["catalog.create"]({ type: "product", slug: "of-a-key" }).pipe(
        RpcClient.withHeaders({ "x-request-id": "named-by-the-caller" })
      )
      assert.strictEqual(made.organizationId, organizationId)
      assert.deepInclude(yield* changeOf(made.id), { source: "rest", request_id: "named-by-the-caller" })
    }))

  it.effect("may not name another organization than that of the key", () =>
    Effect.gen(function*() {
      const { organizationId } = yield* anOrganization
      const { key } = yield* aKey({ role: "admin" })
      const wrong = yield* clientWith({ "x-api-key": key, "x-organization-id": organizationId })
      const refused = yield* Effect.flip(wrong["catalog.list"]({}))
      assert.strictEqual(refused._tag, "Forbidden")
      const right = yield* clientWith({ "x-api-key": key, "x-organization-id": "org_default" })
      assert.strictEqual((yield* right["catalog.list"]({})).page, 1)
    }))

  it.effect("is the one in the headers of each call, on one connection too", () =>
    Effect.gen(function*() {
      const { organizationId } = yield* anOrganization
      const [theirs, ours] = [
        yield* aKey({ role: "admin", organization: organizationId }),
        yield* aKey({ role: "admin" })
      ]
      const socket = yield* rawSocket
      const listed = (headers: Readonly<Record<string, string>>) =>
        Effect.map(
          socket.call("catalog.create", { type: "product", slug: crypto.randomUUID() }, headers),
          ({ value }) => value as { readonly id: string; readonly organizationId: string }
        )
      const first = yield* listed({ "x-api-key": theirs.key, "user-agent": "one/1" })
      const second = yield* listed({ "x-api-key": ours.key, "user-agent": "one/1" })
      const third = yield* listed({ "x-api-key": ours.key, "user-agent": "two/2" })
      assert.deepStrictEqual([first, second, third].map((made) => made.organizationId), [
        organizationId,
        "org_default",
        "org_default"
      ])
      const changes = yield* Effect.forEach([first, second, third], ({ id }) => changeOf(id))
      assert.deepStrictEqual(changes.map((change) => change?.user_agent), ["one/1", "one/1", "two/2"])
    }))

  it.effect("does not get in with a session, neither by its token nor by its cookie", () =>
    Effect.gen(function*() {
      const { bearer, cookie } = yield* signIn({ role: "admin" })
      for (const headers of [bearer, cookie, {}]) {
        const rpc = yield* clientWith(headers)
        assert.strictEqual((yield* Effect.flip(rpc["catalog.list"]({})))._tag, "Unauthorized")
      }
    }))

  it.effect("loses further calls and streams of an open connection with the key", () =>
    Effect.gen(function*() {
      const { id, key } = yield* aKey({ role: "admin" })
      const rpc = yield* clientOf(key)
      const tail = yield* Effect.forkChild(Effect.flip(Stream.runDrain(rpc["events.tail"]({}))))
      assert.strictEqual((yield* rpc["catalog.list"]({})).page, 1)
      const revoked = yield* api("DELETE", `/api/admin/api-keys/${id}`, { as: asAdmin })
      assert.strictEqual(revoked.status, 200)
      yield* eventually(
        "the key to be refused",
        Effect.match(rpc["catalog.list"]({}), {
          onFailure: ({ _tag }) => _tag === "Unauthorized",
          onSuccess: () => false
        })
      )
      assert.strictEqual((yield* Fiber.join(tail))._tag, "Unauthorized")
    }))
})

withApp("a change with an idempotency-key", (it) => {
  it.effect("is made once however often it is called, and over HTTP the same key is another request's", () =>
    Effect.gen(function*() {
      const rpc = yield* clientAs(asAdmin)
      const create = (slug: string) =>
        RpcClient.withHeaders(rpc["catalog.create"]({ type: "product", slug }), { "idempotency-key": "only-once-1" })
      const first = yield* create("once")
      const second = yield* create("once")
      assert.deepStrictEqual(second, first)
      assert.strictEqual((yield* Effect.flip(create("twice")))._tag, "ValidationFailed")
      const overHttp = yield* api("POST", "/api/catalog/entities", {
        as: asAdmin,
        headers: { "idempotency-key": "only-once-1" },
        body: { type: "product", slug: "once" }
      })
      assert.strictEqual(overHttp.status, 422)
    }))

  it.effect("is made once when it is called twice at the same moment", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 10 })
      const rpc = yield* clientAs(asAdmin)
      const adjust = RpcClient.withHeaders(
        rpc["inventory.adjust"]({ entityId: EntityId.make(entityId), adjustment: 1 }),
        {
          "idempotency-key": "at-the-same-moment"
        }
      )
      const recorded = yield* Effect.all([Effect.exit(adjust), Effect.exit(adjust)], { concurrency: 2 })
      const again = yield* eventually(
        "the answer to be stored",
        Effect.match(adjust, {
          onFailure: () => undefined,
          onSuccess: (level) => level
        })
      )
      assert.strictEqual(again.after, 11)
      assert.isTrue(recorded.some(({ _tag }) => _tag === "Success"))
    }))

  it.effect("frees its key when it is refused, and stores an answer without content", () =>
    Effect.gen(function*() {
      const rpc = yield* clientAs(asAdmin)
      const idempotent = RpcClient.withHeaders({ "idempotency-key": "refused-at-first" })
      const { id } = yield* rpc["catalog.create"]({ type: "product", slug: "to-go" })
      yield* rpc["catalog.create"]({ type: "product", slug: "stays" })
      const refused = yield* Effect.flip(idempotent(rpc["catalog.update"]({ id, change: { slug: "stays" } })))
      assert.strictEqual(refused._tag, "Conflict")
      yield* idempotent(rpc["catalog.remove"]({ id }))
      // The second time there is nothing to remove: the first answer is given again.
      yield* idempotent(rpc["catalog.remove"]({ id }))
      const unfit = yield* Effect.flip(RpcClient.withHeaders(rpc["catalog.remove"]({ id }), { "idempotency-key": "x" }))
      assert.strictEqual(unfit._tag, "ValidationFailed")
    }))
})

layer(testAppLayer({}, { rateLimits: lastingRates({ apiOfKey: 20, api: 5 }) }), live)("limits of requests", (it) => {
  it.effect("count each call of a key, and routes and calls together", () =>
    Effect.gen(function*() {
      const { headers, key } = yield* aKey({ role: "admin" })
      const rpc = yield* clientOf(key)
      for (let call = 0; call < 18; call++) yield* rpc["catalog.list"]({})
      const list = () => api("GET", "/api/catalog/entities", { headers })
      assert.deepStrictEqual([(yield* list()).status, (yield* list()).status, (yield* list()).status], [200, 200, 429])
      assert.strictEqual((yield* Effect.flip(rpc["catalog.list"]({})))._tag, "TooManyRequests")
    }))

  it.effect("count those who show no key by their address, and refuse them then", () =>
    Effect.gen(function*() {
      const socket = yield* rawSocket
      const recorded: Array<string | undefined> = []
      for (let call = 0; call < 8; call++) {
        recorded.push((yield* socket.call("catalog.list", {}, { "x-api-key": `stoa_guess_${call}` })).error)
      }
      assert.deepStrictEqual([recorded[0], recorded.at(-1)], ["Unauthorized", "TooManyRequests"])
    }))
})
