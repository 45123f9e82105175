import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartOf, mailing, shopMailingTo } from "../mail/MailedShop.ts"
import { aFreePort, startMailServer } from "../support/MailServer.ts"
import { checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asStaff, at } from "../support/TestApp.ts"

let port = 0
const Shop = Layer.unwrap(Effect.map(aFreePort, (free) => shopMailingTo(port = free)))

const timelineOf = (orderId: string, query = "?limit=100") =>
  api("GET", `/api/orders/${orderId}/timeline${query}`, { as: asStaff })

const recorded = (timeline: Answer) => timeline.list("data").map((one) => `${at(one, "kind")} ${at(one, "type")}`)

const mailsOf = (orderId: string) =>
  Effect.map(timelineOf(orderId), (all) => all.list("data").filter((one) => at(one, "kind") === "mail"))

/** Sends the mails that other tests have left. */
const noMailWaits = mailing(
  "the mails of others to leave",
  onDatabase((sql) =>
    Effect.map(
      sql`select 1 from commerce_jobs where queue = 'mail' and status in ('pending', 'processing')`,
      (waiting) => waiting.length === 0
    )
  )
)

const post = (path: string, body: object) => api("POST", path, { as: asAdmin, body })

const report = (order: Answer, type: string, amount: number, id = newId()) => {
  const metadata = { orderId: order.text("data.id"), organizationId: "org_default" }
  const object = { id: order.text("data.paymentIntentId"), amount, currency: "usd", metadata }
  const body = JSON.stringify({ id, type, data: { object } })
  return api("POST", "/api/payments/webhook", { body, headers: { "x-payment-signature": signTestEvent("test", body) } })
}

const moveTo = (orderId: string, status: string) =>
  api("PATCH", `/api/orders/${orderId}/status`, { as: asStaff, body: { status } })

layer(Shop, { excludeTestServices: true, timeout: "60 seconds" })("the timeline of an order", (it) => {
  it.effect("lists every transition, event, step of payment, parcel, refund, note and mail in order", () =>
    Effect.gen(function*() {
      yield* startMailServer({ port })
      const order = yield* checkOut(yield* aCartOf("tim@home.example"))
      const id = order.text("data.id")
      const mails = (n: number) => mailing(`${n} mails`, Effect.map(mailsOf(id), (all) => all.length >= n))
      yield* mails(1)
      const eventId = newId()
      for (let n = 0; n < 2; n++) yield* report(order, "payment_intent.succeeded", 2_500, eventId)
      yield* mails(2)
      yield* moveTo(id, "processing")
      yield* mails(3)
      const lineItemId = order.text("data.lineItems.0.id")
      const parcel = yield* post(`/api/orders/${id}/fulfillments`, {
        type: "physical",
        lineItems: [{ orderLineItemId: lineItemId, quantity: 1 }]
      })
      assert.strictEqual(parcel.status, 201, JSON.stringify(parcel.body))
      yield* post(`/api/orders/${id}/refund`, { amount: 300, reason: "dented" })
      yield* report(order, "charge.refunded", 300)
      yield* post(`/api/orders/${id}/notes`, { text: "Wants it on Monday." })

      const timeline = yield* timelineOf(id)
      assert.deepStrictEqual(recorded(timeline), [
        "payment authorized",
        "status pending",
        "change orders.create",
        "payment captured",
        "mail order-confirmation",
        "event payment_intent.succeeded",
        "status confirmed",
        "mail order-status-change",
        "status processing",
        "mail order-status-change",
        "fulfillment created",
        "fulfillment shipped",
        "status partially_fulfilled",
        "refund pending",
        "refund settled",
        "event charge.refunded",
        "note internal"
      ])
      const moments = timeline.list("data").map((one) => Date.parse(String(at(one, "at"))))
      assert.deepStrictEqual(moments, [...moments].sort((one, other) => one - other))
      const event = timeline.list("data").find((one) => at(one, "kind") === "event")
      assert.deepInclude(event, { actorId: "test-webhook", data: { provider: "test", eventId, amount: 2_500 } })
      assert.notInclude(JSON.stringify(timeline.body), "tim@home.example")
    }))

  it.effect("comes in pages", () =>
    Effect.gen(function*() {
      const order = yield* checkOut(yield* aCartOf(undefined))
      const id = order.text("data.id")
      const whole = yield* timelineOf(id)
      const second = yield* timelineOf(id, "?limit=1&page=2")
      assert.deepStrictEqual(second.list("data"), whole.list("data").slice(1, 2))
      assert.strictEqual(second.at("meta.pagination.total"), whole.list("data").length)
      refused(yield* api("GET", `/api/orders/${newId()}/timeline`, { as: asStaff }), 404, "NOT_FOUND")
    }))

  it.effect("shows a mail that its server refused for good, without its recipient", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer({ port })
      yield* noMailWaits
      server.next({ at: "receiver", code: 550, text: "gone@home.example does not live here" })
      const order = yield* checkOut(yield* aCartOf("gone@home.example"))
      const id = order.text("data.id")
      const failed = yield* mailing("the refusal in the timeline", Effect.map(mailsOf(id), ([first]) => first))
      assert.deepInclude(failed, { type: "order-confirmation", actorId: null })
      assert.strictEqual(at(failed, "data.outcome"), "failed")
      assert.isString(at(failed, "data.failure"))
      const rows = yield* onDatabase((sql) =>
        sql`select m::text as row from order_mails m where order_id = ${id}::uuid`
      )
      assert.notInclude(JSON.stringify(rows), "gone@home.example")
    }))
})
