import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { RpcSchema } from "effect/rpc"
import { Access } from "../../src/domain/access/AccessRule.ts"
import { defineTask } from "../../src/domain/jobs/Task.ts"
import { routeOf, StoaRpcs } from "../../src/http/rpc/StoaRpcs.ts"
import { aForeignProduct, onDatabase, openElsewhere } from "../checkout/CheckoutFixtures.ts"
import { asAdmin, asAnonymous, inOrganization, testAppLayer } from "../support/TestApp.ts"
import { as, rawSocket } from "./RawSocket.ts"
import { apart, aStore, samples } from "./Store.ts"

const ownTask = defineTask({ slug: "tests/own", handler: () => Effect.void })
const app = testAppLayer({ tasks: [ownTask], jobs: { autorun: { enabled: false } } })

const outsider = as(inOrganization("org_other", asAdmin))
const admin = as(asAdmin)
const tags = [...StoaRpcs.requests.keys()]

/** All rows that calls change, and the number of recorded changes. */
const everything = Effect.map(
  onDatabase((sql) =>
    sql`select (select count(*)::text from outbox_events where organization_id = 'org_default') as changes,
      (select md5(string_agg(e::text, '' order by e.id)) from catalog_entities e) as entities,
      (select md5(string_agg(o::text, '' order by o.id)) from orders o) as orders,
      (select count(*)::text from commerce_jobs) as jobs`
  ),
  (rows) => JSON.stringify(rows)
)

layer(app, { excludeTestServices: true, timeout: "60 seconds" })("every call", (it) => {
  it("has a sample here, and an access rule", () => {
    const known = Object.keys(samples({
      entityId: "",
      warehouseId: "",
      cart: { id: "", headers: { "x-cart-secret": "" } },
      itemId: "",
      orderId: "",
      customerId: "",
      jobId: "0-0-0-0-0"
    }))
    assert.deepStrictEqual([...tags].sort(), [...known, ...apart].sort())
    for (const tag of tags) {
      assert.isDefined(Context.getOrUndefined(routeOf(tag)?.annotations ?? Context.empty(), Access), tag)
    }
  })

  it.effect(
    "is refused without a key, with a session's rights and without the permission, and changes nothing",
    () =>
      Effect.gen(function*() {
        const store = yield* aStore
        const all = samples(store)
        const socket = yield* rawSocket
        const before = yield* everything
        for (const tag of tags) {
          const { headers = {}, payload } = all[tag] ?? { payload: { id: store.entityId } }
          const unknown = yield* socket.call(tag, payload, { "x-api-key": "stoa_unknown_key_0123456789abcdefghij" })
          assert.strictEqual(unknown.error, "Unauthorized", tag)
          const forbidden = yield* socket.call(tag, payload, { ...headers, ...as(asAnonymous) })
          assert.strictEqual(forbidden.error, "Forbidden", tag)
        }
        assert.strictEqual(yield* everything, before)
      }),
    60_000
  )

  it.effect("says what is wrong with what was sent, as over HTTP", () =>
    Effect.gen(function*() {
      const socket = yield* rawSocket
      for (const [tag, { payloadSchema }] of StoaRpcs.requests) {
        if (payloadSchema.ast._tag === "Void") continue
        const refused = yield* socket.call(tag, "nothing like it", admin)
        assert.strictEqual(refused.error, "ValidationFailed", `${tag}: ${JSON.stringify(refused).slice(0, 300)}`)
      }
      const refused = yield* socket.call("carts.create", { currency: "ABC", email: 5 }, admin)
      assert.match(JSON.stringify(refused.value), /"path":"currency".*"path":"email"/)
      // A caller without the permission does not learn what the call expects.
      assert.strictEqual((yield* socket.call("carts.create", {}, as(asAnonymous))).error, "Forbidden")
    }), 60_000)

  it.effect(
    "reads another organization's record as not found, and changes nothing of it",
    () =>
      Effect.gen(function*() {
        const store = yield* aStore
        yield* openElsewhere
        const socket = yield* rawSocket
        const before = yield* everything
        for (const [tag, { headers = {}, names, payload }] of Object.entries(samples(store))) {
          if (names !== true) continue
          const recorded = yield* socket.call(tag, payload, { ...headers, ...outsider })
          assert.strictEqual(recorded.error, "NotFound", tag)
        }
        for (const tag of ["catalog.list", "orders.list", "inventory.levels", "jobs.failed"]) {
          const { value } = yield* socket.call(tag, {}, outsider)
          assert.deepInclude(value, { items: [], total: 0 }, tag)
        }
        for (const tag of ["orders.stream", "inventory.stream", "catalog.stream"]) {
          assert.deepInclude(yield* socket.call(tag, {}, outsider), { ok: true, value: null }, tag)
        }
        assert.strictEqual(yield* everything, before)
      }),
    60_000
  )

  it.effect("succeeds", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const socket = yield* rawSocket
      for (const [tag, { headers = {}, payload }] of Object.entries(samples(store))) {
        const recorded = yield* socket.call(tag, payload, { ...headers, ...admin })
        assert.isTrue(recorded.ok, `${tag}: ${JSON.stringify(recorded)}`)
        const rpc = StoaRpcs.requests.get(tag)
        if (rpc !== undefined && RpcSchema.isStreamSchema(rpc.successSchema)) assert.isArray(recorded.value, tag)
      }
      const lonely = yield* socket.call("catalog.create", { type: "product", slug: "lonely" }, admin)
      const id = String(Reflect.get(Object(lonely.value), "id"))
      assert.isTrue((yield* socket.call("catalog.remove", { id }, admin)).ok)
      assert.strictEqual((yield* socket.call("catalog.read", { idOrSlug: id }, admin)).error, "NotFound")
    }), 60_000)

  it.effect("fails with the errors of its route", () =>
    Effect.gen(function*() {
      const { cart, entityId, itemId, jobId, orderId } = yield* aStore
      const socket = yield* rawSocket
      const error = (tag: string, payload: unknown, headers: object = {}) =>
        Effect.map(socket.call(tag, payload, { ...headers, ...admin }), (recorded) => recorded.error)
      const unknownId = "01a1fafa-1828-734d-a466-2b91eb0fb4a0"
      yield* socket.call("catalog.create", { type: "product", slug: "taken" }, admin)
      assert.strictEqual(yield* error("catalog.create", { type: "product", slug: "taken" }), "Conflict")
      assert.strictEqual(yield* error("catalog.update", { id: entityId, change: { slug: "taken" } }), "Conflict")
      assert.strictEqual(yield* error("catalog.remove", { id: entityId }), "Conflict")
      assert.strictEqual(yield* error("catalog.list", { sort: "nothing" }), "ValidationFailed")
      assert.strictEqual(yield* error("catalog.stream", { category: "none" }), "ValidationFailed")
      assert.strictEqual(
        yield* error("catalog.setAttributes", { id: entityId, locale: "fr", change: {} }),
        "ValidationFailed"
      )
      assert.strictEqual(yield* error("carts.create", { currency: "USD", customerId: unknownId }), "NotFound")
      const removed = yield* socket.call("carts.removeItem", { cartId: cart.id, itemId }, { ...cart.headers, ...admin })
      assert.isTrue(removed.ok)
      assert.strictEqual(yield* error("carts.removeItem", { cartId: cart.id, itemId }, cart.headers), "NotFound")
      const checkout = { cartId: cart.id, currency: "USD", paymentMethodId: "test" }
      assert.strictEqual(yield* error("carts.checkout", checkout, cart.headers), "CheckoutFailed")
      assert.strictEqual(yield* error("orders.changeStatus", { id: orderId, status: "fulfilled" }), "InvalidTransition")
      assert.strictEqual(yield* error("orders.changeStatus", { id: orderId, status: "no" }), "InvalidTransition")
      assert.strictEqual(yield* error("inventory.adjust", { entityId, adjustment: -1_000_000 }), "ValidationFailed")
      assert.strictEqual(yield* error("inventory.adjust", { entityId, adjustment: 0 }), "ValidationFailed")
      assert.strictEqual(yield* error("inventory.createWarehouse", { name: "Again", code: "MAIN" }), "Conflict")
      assert.strictEqual(yield* error("jobs.enqueue", { task: "mail/send", input: {} }), "ValidationFailed")
      assert.strictEqual(
        yield* error("jobs.enqueue", { task: "tests/own", input: {}, maxAttempts: 0 }),
        "ValidationFailed"
      )
      assert.isTrue((yield* socket.call("jobs.retry", { id: jobId }, admin)).ok)
      assert.strictEqual(yield* error("jobs.retry", { id: jobId }), "Conflict")
      yield* aForeignProduct("foreign-product")
      assert.strictEqual(yield* error("catalog.read", { idOrSlug: "foreign-product" }), "NotFound")
    }), 60_000)
})
