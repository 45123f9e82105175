import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asCustomer, asStaff, at, withSharedApp } from "../support/TestApp.ts"
import { inOneMoment, write } from "./OrderFixtures.ts"

const anOrder = (entityId: string) => write({ lineItems: [{ entityId, quantity: 1 }] })

withSharedApp("notes about an order", (it) => {
  it.effect("are listed in pages, shown to the customer where they are for customers, and deleted", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const as = asCustomer("reader-1")
      const order = yield* write({ lineItems: [{ entityId, quantity: 1 }] }, as)
      const path = `/api/orders/${order.text("data.id")}/notes`
      const note = (body: object) => api("POST", path, { as: asStaff, body })
      const internal = yield* note({ text: "Rude on the telephone." })
      assert.deepInclude(internal.at("data"), { visibility: "internal", authorId: "user-staff", authorName: "staff" })
      yield* note({ text: "Comes on Monday.", visibility: "customer" })
      const page = yield* api("GET", `${path}?limit=1&page=2`, { as: asStaff })
      assert.deepStrictEqual(page.at("meta.pagination"), { page: 2, limit: 1, total: 2, totalPages: 2 })
      assert.strictEqual(page.at("data.0.text"), "Comes on Monday.")
      const mine = yield* api("GET", `/api/me/orders/${order.text("data.orderNumber")}/notes`, { as })
      assert.deepStrictEqual(mine.list("data").map((one) => at(one, "text")), ["Comes on Monday."])
      assert.notProperty(mine.at("data.0"), "authorName")
      const others = api("GET", `/api/me/orders/${order.text("data.id")}/notes`, { as: asCustomer("else") })
      refused(yield* others, 404, "NOT_FOUND")
      const other = (yield* anOrder(entityId)).text("data.id")
      const one = `${path}/${internal.text("data.id")}`
      refused(yield* api("DELETE", one.replace(order.text("data.id"), other), { as: asStaff }), 404, "NOT_FOUND")
      assert.deepStrictEqual((yield* api("DELETE", one, { as: asStaff })).body, { data: { deleted: true } })
      refused(yield* api("DELETE", one, { as: asStaff }), 404, "NOT_FOUND")
      const recorded = yield* onDatabase((sql) =>
        sql<{ said: string }>`select payload::text || coalesce(before::text, '') as said from outbox_events
          where entity_id = ${order.text("data.id")} and type in ('orders.addNote', 'orders.removeNote')`
      )
      assert.deepStrictEqual(recorded.map(({ said }) => /Rude|Monday/.test(said)), [false, false, false])
    }))

  it.effect("wait for an erasure of the order's person, and do not outlive it", () =>
    Effect.gen(function*() {
      const id = (yield* anOrder(yield* aProduct())).text("data.id")
      const note = api("POST", `/api/orders/${id}/notes`, { as: asStaff, body: { text: "Late." } })
      const answers = yield* inOneMoment((sql) => sql`update orders set email = null where id = ${id}::uuid`, [note])
      assert.deepStrictEqual(answers.map(({ status }) => status), [201])
    }))

  it.effect("need a known order and a text", () =>
    Effect.gen(function*() {
      const path = `/api/orders/${(yield* anOrder(yield* aProduct())).text("data.id")}/notes`
      const note = (body: object, to = path) => api("POST", to, { as: asStaff, body })
      refused(yield* note({ text: "" }), 422, "VALIDATION_FAILED")
      refused(yield* note({ text: "a", visibility: "public" }), 422, "VALIDATION_FAILED")
      refused(yield* note({ text: "a" }, `/api/orders/${newId()}/notes`), 404, "NOT_FOUND")
    }))
})
