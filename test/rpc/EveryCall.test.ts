import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { RpcSchema } from "effect/rpc"
import { Access } from "../../src/domain/platform/access/AccessRule.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { routeOf, StoaRpcs } from "../../src/http/rpc/StoaRpcs.ts"
import { aForeignProduct, onDatabase, openElsewhere } from "../checkout/CheckoutFixtures.ts"
import { asAdmin, asAnonymous, inOrganization, live, testAppLayer } from "../support/TestApp.ts"
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

layer(app, live)("every call", (it) => {
  it("has a sample here, and an access rule", () => {
    const cart = { id: "", headers: { "x-cart-secret": "" } }
    const ids = { entityId: "", warehouseId: "", itemId: "", orderId: "", customerId: "" }
    const known = Object.keys(samples({ ...ids, cart, jobId: "0-0-0-0-0" }))
    assert.deepStrictEqual([...tags].sort(), [...known, ...apart].sort())
    for (const tag of tags) {
      assert.isDefined(Context.getOrUndefined(routeOf(tag).annotations, Access), tag)
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
      })
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
    }))

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
      })
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
      const lesson = yield* socket.call("catalog.create", { type: "service", slug: "lesson" }, admin)
      const entityId = String(Reflect.get(Object(lesson.value), "id"))
      const checked = yield* socket.call("inventory.check", { entityIds: [entityId] }, admin)
      assert.deepInclude(checked, { ok: true, value: { [entityId]: null } })
      const lonely = yield* socket.call("catalog.create", { type: "product", slug: "lonely" }, admin)
      const id = String(Reflect.get(Object(lonely.value), "id"))
      assert.isTrue((yield* socket.call("catalog.remove", { id }, admin)).ok)
      assert.strictEqual((yield* socket.call("catalog.read", { idOrSlug: id }, admin)).error, "NotFound")
    }))

  it.effect("answers the totals of a cart that a line was taken out of, where they are asked for", () =>
    Effect.gen(function*() {
      const { cart, entityId, itemId } = yield* aStore
      const socket = yield* rawSocket
      const headers = { ...cart.headers, ...admin }
      const item = { cartId: cart.id, item: { entityId, quantity: 1, metadata: { engraving: "J" } } }
      const other = Object((yield* socket.call("carts.addItem", item, headers)).value)
      const call = { cartId: cart.id, itemId, include: "totals" }
      const removed = Object((yield* socket.call("carts.removeItem", call, headers)).value)
      assert.deepStrictEqual(removed.totals.lines.map(({ id }: { readonly id: string }) => id), [other.id])
      const plain = yield* socket.call("carts.removeItem", { cartId: cart.id, itemId: other.id }, headers)
      assert.deepStrictEqual([plain.ok, plain.value ?? null], [true, null])
    }))

  it.effect("fails with the errors of its route", () =>
    Effect.gen(function*() {
      const { cart, entityId, itemId, jobId, orderId } = yield* aStore
      yield* aForeignProduct("foreign-product")
      const socket = yield* rawSocket
      const unknownId = "01a1fafa-1828-734d-a466-2b91eb0fb4a0"
      const checkout = { cartId: cart.id, currency: "USD", paymentMethodId: "test" }
      const line = { cartId: cart.id, itemId }
      const calls: ReadonlyArray<
        readonly [tag: string, payload: object, error?: string | undefined, headers?: object]
      > = [
        ["catalog.create", { type: "product", slug: "taken" }],
        ["catalog.create", { type: "product", slug: "taken" }, "Conflict"],
        ["catalog.update", { id: entityId, change: { slug: "taken" } }, "Conflict"],
        ["catalog.remove", { id: entityId }, "Conflict"],
        ["catalog.list", { sort: "nothing" }, "ValidationFailed"],
        ["catalog.stream", { category: "none" }, "ValidationFailed"],
        ["catalog.setAttributes", { id: entityId, locale: "fr", change: {} }, "ValidationFailed"],
        ["catalog.read", { idOrSlug: "foreign-product" }, "NotFound"],
        ["carts.create", { currency: "USD", customerId: unknownId }, "NotFound"],
        ["carts.removeItem", line, undefined, cart.headers],
        ["carts.removeItem", line, "NotFound", cart.headers],
        ["carts.checkout", checkout, "CheckoutFailed", cart.headers],
        ["orders.changeStatus", { id: orderId, status: "fulfilled" }, "InvalidTransition"],
        ["orders.changeStatus", { id: orderId, status: "no" }, "InvalidTransition"],
        ["inventory.adjust", { entityId, adjustment: -1_000_000 }, "ValidationFailed"],
        ["inventory.adjust", { entityId, adjustment: 0 }, "ValidationFailed"],
        ["inventory.createWarehouse", { name: "Again", code: "MAIN" }, "Conflict"],
        ["jobs.enqueue", { task: "mail/send", input: {} }, "ValidationFailed"],
        ["jobs.enqueue", { task: "tests/own", input: {}, maxAttempts: 0 }, "ValidationFailed"],
        ["jobs.retry", { id: jobId }],
        ["jobs.retry", { id: jobId }, "Conflict"]
      ]
      for (const [tag, payload, error, headers = {}] of calls) {
        const ended = yield* socket.call(tag, payload, { ...headers, ...admin })
        assert.deepStrictEqual([ended.ok, ended.error], [error === undefined, error], JSON.stringify([tag, payload]))
      }
    }))
})
