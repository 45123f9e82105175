import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { OrderStatus, transitions } from "../../src/domain/orders/OrderStatus.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { type BuiltOrder, orderInApp as given, stockInApp } from "../support/OrderBuilder.ts"
import {
  type Answer,
  api,
  asAdmin,
  asAnonymous,
  asCustomer,
  asStaff,
  at,
  inOrganization,
  withSharedApp
} from "../support/TestApp.ts"
import { setStatus } from "./OrderFixtures.ts"

const isPermitted = (from: string, to: string): boolean =>
  transitions.some((one) => one.from === from && one.to === to && one.by.includes("request"))

withSharedApp("orders over HTTP", (it) => {
  describe("status", () => {
    for (const from of OrderStatus.literals) {
      it.effect(`from ${from} makes every change that the table permits and refuses every other`, () =>
        Effect.gen(function*() {
          for (const to of [...OrderStatus.literals, "canceled", "shipped", "__proto__", ""]) {
            const order = yield* given({ status: from, onHand: 5 })
            const answer = yield* setStatus(order, to)
            const after = yield* api("GET", `/api/orders/${order.id}`, { as: asAdmin })
            const seen = [answer.status, answer.at("error.code"), after.at("data.status")]
            const expected = isPermitted(from, to) ? [200, undefined, to] : [422, "INVALID_TRANSITION", from]
            assert.deepStrictEqual(seen, expected, `${from} to ${to}`)
          }
        }))
    }

    it.effect("refuses a reason that cannot be stored as it was sent", () =>
      Effect.gen(function*() {
        const order = yield* given()
        for (const reason of ["half a \ud83d pair", "a \u0000 within"]) {
          const answer = yield* setStatus(order, "cancelled", asAdmin, { reason })
          assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, "reason"])
        }
      }))

    it.effect("of five parallel cancels one wins, and stock and money come back once", () =>
      Effect.gen(function*() {
        const order = yield* given({ lines: [{ quantity: 4 }], onHand: 10 })
        const answers = yield* Effect.replicateEffect(setStatus(order, "cancelled"), 5, { concurrency: "unbounded" })
        const [won, ...more] = answers.filter(({ status }) => status === 200)
        assert.deepStrictEqual(more, [])
        assert.isTrue(answers.every(({ status }) => status === 200 || status === 409 || status === 422))
        assert.strictEqual(won?.number("data.refundedTotal"), 4_000)
        assert.match(won?.text("data.cancelledAt") ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        const released = { onHand: 10, reserved: 0, version: 1, hold: "released" }
        assert.deepStrictEqual(yield* stockInApp(order), released)
        const after = yield* api("GET", `/api/orders/${order.id}`, { as: asAdmin })
        assert.strictEqual(after.number("data.refundedTotal"), 4_000)
      }))

    it.effect("a refund of a fulfilled order shows what was given back", () =>
      Effect.gen(function*() {
        const order = yield* given({ status: "fulfilled", lines: [{ unitPrice: 1_234, quantity: 2 }] })
        const answer = yield* setStatus(order, "refunded", asStaff, { reason: "came back broken" })
        assert.deepStrictEqual([answer.status, answer.at("data.refundedTotal")], [200, 2_468])
      }))

    it.effect("needs a known order, a UUID and a status", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const path = `/api/orders/${order.id}/status`
        refused(yield* setStatus({ ...order, id: newId() }, "confirmed"), 404, "NOT_FOUND")
        refused(yield* setStatus({ ...order, id: "not-a-uuid" }, "confirmed"), 422, "VALIDATION_FAILED")
        refused(yield* api("PATCH", path, { as: asAdmin, body: {} }), 422, "VALIDATION_FAILED")
      }))
  })

  describe("reading", () => {
    it.effect("finds no unknown number and no nonsense, and shows nothing internal", () =>
      Effect.gen(function*() {
        const order = yield* given({ lines: [{ sku: "SKU-1", title: "Lamp" }] })
        const shown = yield* api("GET", `/api/orders/${order.orderNumber}`, { as: asStaff })
        assert.strictEqual(shown.text("data.lineItems.0.sku"), "SKU-1")
        for (const field of ["cartSecretHash", "idempotencyScope"]) assert.notProperty(shown.at("data"), field)
        for (const id of ["ORD-1999-000001", "nonsense%00"]) {
          refused(yield* api("GET", `/api/orders/${id}`, { as: asAdmin }), 404, "NOT_FOUND")
        }
      }))

    it.effect("shows an order and its fulfillments to its customer, and to its guest for seven days", () =>
      Effect.gen(function*() {
        const customerId = newId()
        yield* onDatabase((sql, organizationId) =>
          sql`insert into customers (id, organization_id, user_id)
            values (${customerId}::uuid, ${organizationId}, 'owner-1')`
        )
        const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
        const owned = yield* given({ customerId })
        const order = yield* given({ cartSecret: "s3cret", placedAt: ago(6.9) })
        const old = yield* given({ cartSecret: "s3cret", placedAt: ago(7.1) })
        const withSecret = (secret: string) => ({ headers: { "x-cart-secret": secret } })
        const rows: ReadonlyArray<readonly [order: BuiltOrder, call: object, status: number]> = [
          [owned, { as: asCustomer("owner-1") }, 200],
          [owned, { as: asCustomer("another") }, 404],
          [owned, { as: asAnonymous }, 403],
          [order, withSecret("s3cret"), 200],
          [order, withSecret("wrong"), 404],
          [order, {}, 404],
          [old, withSecret("s3cret"), 404]
        ]
        for (const [{ id }, call, status] of rows) {
          for (const path of [`/api/orders/${id}`, `/api/orders/${id}/fulfillments`]) {
            assert.strictEqual((yield* api("GET", path, call)).status, status, JSON.stringify(call))
          }
        }
      }))

    it.effect("lists with pagination", () =>
      Effect.gen(function*() {
        const organizationId = "org_list"
        for (const status of ["pending", "pending", "confirmed"]) yield* given({ organizationId, status })
        const as = inOrganization(organizationId, asAdmin)
        const all = yield* api("GET", "/api/orders?limit=2&page=1", { as })
        assert.deepInclude(all.at("meta.pagination"), { page: 1, limit: 2, total: 3, totalPages: 2 })
        assert.strictEqual(all.list("data").length, 2)
        assert.strictEqual(all.list("data.0.lineItems").length, 1)
        assert.strictEqual((yield* api("GET", "/api/orders?status=pending", { as })).number("meta.pagination.total"), 2)
        const unknown = yield* api("GET", "/api/orders?status=nothing", { as })
        assert.deepStrictEqual(unknown.body, {
          data: [],
          meta: { pagination: { page: 1, limit: 20, total: 0, totalPages: 1 } }
        })
      }))
  })

  describe("fulfillments", () => {
    it.effect("are listed with title and sku of the lines; what is unknown is absent", () =>
      Effect.gen(function*() {
        const order = yield* given({ lines: [{ title: "Manual", sku: "PDF-1", quantity: 2 }] })
        const line = order.lines[0]
        const grant = { downloadUrl: "https://example.test/d", maxDownloads: 5, downloadCount: 0 }
        yield* onDatabase((sql, organizationId) =>
          sql`with made as (insert into fulfillments (id, organization_id, order_id, type, status, metadata)
            values (gen_random_uuid(), ${organizationId}, ${order.id}::uuid, 'digital-download', 'fulfilled',
              ${JSON.stringify(grant)}::jsonb) returning id)
            insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
            select ${organizationId}, id, ${line?.id ?? null}::uuid, 2 from made`
        )
        const answer = yield* api("GET", `/api/orders/${order.id}/fulfillments`, { as: asAdmin })
        assert.deepStrictEqual(answer.at("meta.pagination"), { page: 1, limit: 20, total: 1, totalPages: 1 })
        assert.deepInclude(answer.at("data.0"), {
          orderId: order.id,
          type: "digital-download",
          status: "fulfilled",
          lineItems: [{ id: line?.id, title: "Manual", variantTitle: null, sku: "PDF-1", quantity: 2 }],
          downloadUrl: "https://example.test/d",
          maxDownloads: 5,
          entityId: line?.entityId
        })
        assert.notProperty(answer.at("data.0"), "carrier")
        const none = yield* given()
        assert.deepStrictEqual(
          (yield* api("GET", `/api/orders/${none.id}/fulfillments`, { as: asAdmin })).at("data"),
          []
        )
        assert.strictEqual((yield* api("GET", "/api/orders/not-a-uuid/fulfillments", { as: asAdmin })).status, 422)
      }))

    it.effect("come in pages, oldest first, of at most 100", () =>
      Effect.gen(function*() {
        const order = yield* given()
        yield* onDatabase((sql, organizationId) =>
          sql`insert into fulfillments (id, organization_id, order_id, type, status, carrier, created_at)
            select gen_random_uuid(), ${organizationId}, ${order.id}::uuid, 'physical', 'shipped', 'carrier ' || n,
              now() + n * interval '1 second' from generate_series(1, 101) n`
        )
        const list = (query: string) => api("GET", `/api/orders/${order.id}/fulfillments${query}`, { as: asAdmin })
        const carriers = (answer: Answer) => answer.list("data").map((one) => at(one, "carrier"))
        assert.strictEqual((yield* list("")).list("data").length, 20)
        assert.strictEqual((yield* list("?limit=101")).list("data").length, 100)
        const second = yield* list("?page=2&limit=2")
        assert.deepStrictEqual(carriers(second), ["carrier 3", "carrier 4"])
        assert.deepStrictEqual(second.at("meta.pagination"), { page: 2, limit: 2, total: 101, totalPages: 51 })
        // A parameter that comes twice is no error: the first one counts.
        assert.deepStrictEqual(carriers(yield* list("?page=2&page=1&limit=2&limit=3")), ["carrier 3", "carrier 4"])
      }))
  })
})
