import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { AtFaultPoint, type FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { scriptedProvider } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"

const provider = scriptedProvider("scripted")

/** The boundary the next checkout dies at, once. */
let death: FaultPoint | undefined

const dying = Layer.succeed(AtFaultPoint, (point) =>
  Effect.suspend(() => {
    if (death !== point) return Effect.void
    death = undefined
    return Effect.die(new Error(`the process died at "${point}"`))
  }))

/** Fulfillments that the hooks received. */
const heard: Array<unknown> = []
const hooks: ReadonlyArray<Hook> = [
  { key: "fulfillment.afterCreate", after: ({ result: one }) => Effect.sync(() => void heard.push(at(one, "id"))) }
]

const withProvider = layer(
  testAppLayer({ payments: { adapters: [provider.adapter] }, hooks }).pipe(Layer.provide(dying)),
  live
)

/** Buys one thing of each entity type. */
const buy = Effect.fnUntraced(function*(types: ReadonlyArray<string>, token = "card") {
  const cart = yield* aGuestCart()
  yield* Effect.forEach(types, (type) => Effect.flatMap(aProduct({ type }), (id) => putInto(cart, id, 2)))
  const made = yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: token })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return made
})

const fulfillmentsOf = (made: Answer) =>
  Effect.map(api("GET", `/api/orders/${made.text("data.id")}/fulfillments`, { as: asAdmin }), (all) => all.list("data"))

const eventsOf = (made: Answer) =>
  onDatabase((sql) =>
    sql<{ payload: object }>`select payload from outbox_events
      where type = 'fulfillment.create' and payload->>'orderId' = ${made.text("data.id")}`
  )

const linesOf = (answer: Answer) =>
  answer.list("data.lineItems").map((line) => [at(line, "entityType"), at(line, "fulfillmentStatus")])

const report = (made: Answer, type: string, id = newId()) => {
  const metadata = { orderId: made.text("data.id"), organizationId: "org_default" }
  const object = { id: made.text("data.paymentIntentId"), amount: made.number("data.grandTotal"), metadata }
  const body = JSON.stringify({ id, type, data: { object } })
  const headers = { "x-payment-signature": signTestEvent("scripted", body) }
  return api("POST", "/api/payments/webhook", { body, headers })
}

const delivered = (made: Answer) =>
  eventually("the delivery", Effect.map(fulfillmentsOf(made), ({ length }) => length === 1))

withProvider("digital goods", (it) => {
  it.effect("delivers each digital line with the payment, and no parcel", () =>
    Effect.gen(function*() {
      const made = yield* buy(["digitalDownload", "product", "course"])
      const expected = [["digitalDownload", "fulfilled"], ["product", "unfulfilled"], ["course", "fulfilled"]]
      assert.deepStrictEqual(linesOf(made), expected)
      const read = yield* api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(linesOf(read), expected)

      const [download, access, ...more] = yield* fulfillmentsOf(made)
      assert.deepStrictEqual(more, [])
      assert.include(download, {
        type: "digital-download",
        status: "fulfilled",
        entityType: "digitalDownload",
        maxDownloads: 5,
        downloadCount: 0
      })
      assert.strictEqual(at(download, "lineItems.0.quantity"), 2)
      assert.strictEqual(at(download, "lineItems.0.id"), made.text("data.lineItems.0.id"))
      const lasts = Date.parse(String(at(download, "downloadExpiresAt"))) -
        Date.parse(String(at(download, "createdAt")))
      assert.strictEqual(lasts, 24 * 3_600_000)
      assert.include(access, { type: "digital-access", status: "fulfilled", entityType: "course", isActive: true })
      assert.isString(at(access, "grantedAt"))

      const announced = (yield* eventsOf(made)).map(({ payload }) => payload)
      assert.sameDeepMembers(announced, [download, access])
      assert.sameMembers(heard, [at(download, "id"), at(access, "id")])
    }))

  it.effect("delivers a digital line once when the process dies after the payment", () =>
    Effect.gen(function*() {
      death = "settled"
      const made = yield* buy(["digitalDownload"])
      assert.isUndefined(death)
      assert.deepStrictEqual(linesOf(made), [["digitalDownload", "fulfilled"]])
      assert.strictEqual((yield* fulfillmentsOf(made)).length, 1)
      // A repeated report of the payment hands over nothing twice.
      yield* report(made, "payment_intent.succeeded")
      assert.strictEqual((yield* fulfillmentsOf(made)).length, 1)
      assert.strictEqual((yield* eventsOf(made)).length, 1)
    }))

  it.effect("delivers a digital line only after its shopper confirmed the payment", () =>
    Effect.gen(function*() {
      for (const type of ["payment_intent.amount_capturable_updated", "payment_intent.succeeded"]) {
        const token = `asks ${type}`
        const made = yield* buy(["course"], token)
        assert.deepStrictEqual(yield* fulfillmentsOf(made), [])
        provider.confirm(token)
        yield* report(made, type)
        yield* delivered(made)
      }
    }))

  it.effect("delivers a digital line for a repeated event whose first process died", () =>
    Effect.gen(function*() {
      const made = yield* buy(["course"], "asks twice")
      const [order, id] = [made.text("data.id"), newId()]
      yield* onDatabase((sql) =>
        sql`with heard as (insert into payment_events (organization_id, provider, event_id, type, order_id)
            values ('org_default', 'scripted', ${id}, 'payment_intent.succeeded', ${order}::uuid))
          update orders set status = 'confirmed', amount_captured = grand_total where id = ${order}::uuid`
      )
      assert.isTrue((yield* report(made, "payment_intent.succeeded", id)).at("data.duplicate"))
      assert.lengthOf(yield* fulfillmentsOf(made), 1)
    }))

  it.effect("does not deliver an order that was cancelled before it was paid", () =>
    Effect.gen(function*() {
      const made = yield* buy(["course"], "asks cancelled")
      const path = `/api/orders/${made.text("data.id")}/status`
      yield* api("PATCH", path, { as: asAdmin, body: { status: "cancelled" } })
      assert.strictEqual((yield* report(made, "payment_intent.succeeded")).status, 200)
      assert.deepStrictEqual(yield* fulfillmentsOf(made), [])
    }))
})
