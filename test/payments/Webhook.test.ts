import { PgClient } from "@effect/sql-pg"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { buildOrder, type BuiltOrder, type OrderSpec, stockOf } from "../support/OrderBuilder.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, inOrganization, TestApp, withApp } from "../support/TestApp.ts"

const onDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    TestApp,
    ({ databaseUrl }) => Effect.provide(effect, sharedClient(databaseUrl))
  )

const given = (spec: OrderSpec = {}) => onDatabase(buildOrder({ captured: null, ...spec }))

const eventOf = (type: string, order: BuiltOrder, object: object = {}, id: string = newId()) => ({
  id,
  type,
  data: {
    object: {
      id: order.intentId,
      amount: order.grandTotal,
      currency: "usd",
      metadata: { orderId: order.id, organizationId: order.organizationId },
      ...object
    }
  }
})

const send = (event: object, secret = "test") => {
  const body = JSON.stringify(event)
  return api("POST", "/api/payments/webhook", { body, headers: { "x-payment-signature": signTestEvent(secret, body) } })
}

const read = (order: BuiltOrder) =>
  api("GET", `/api/orders/${order.id}`, { as: inOrganization(order.organizationId, asAdmin) })

const historyOf = (order: BuiltOrder) =>
  onDatabase(
    Effect.flatMap(PgClient.PgClient, (sql) =>
      sql`select to_status, reason, changed_by from order_status_history where order_id = ${order.id}::uuid`)
  )

const refundsOf = (order: BuiltOrder) =>
  onDatabase(Effect.flatMap(PgClient.PgClient, (sql) => sql`select 1 from refunds where order_id = ${order.id}::uuid`))

withApp("events of the payment provider", (it) => {
  describe("payment_intent.succeeded", () => {
    it.effect("confirms a pending order, notes what was captured and says who did it", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const answer = yield* send(eventOf("payment_intent.succeeded", order))
        assert.deepStrictEqual([answer.status, answer.at("data")], [200, { received: true }])
        const after = yield* read(order)
        assert.strictEqual(after.text("data.status"), "confirmed")
        assert.strictEqual(after.number("data.amountCaptured"), order.grandTotal)
        assert.deepStrictEqual(yield* historyOf(order), [{
          to_status: "confirmed",
          reason: "test_webhook_payment_intent_succeeded",
          changed_by: "test-webhook"
        }])
      }))

    it.effect("is told in the change log with the request in which the provider said it", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const body = JSON.stringify(eventOf("payment_intent.succeeded", order))
        const headers = { "x-payment-signature": signTestEvent("test", body), "x-request-id": "from-the-provider" }
        yield* api("POST", "/api/payments/webhook", { body, headers })
        const entries = yield* onDatabase(
          Effect.flatMap(PgClient.PgClient, (sql) =>
            sql`select type, actor_id, actor_type, source, ip, before->>'status' as before, payload->>'status' as after
              from outbox_events where request_id = 'from-the-provider' order by entry_number`)
        )
        assert.deepStrictEqual(entries, [{
          type: "orders.statusChange",
          actor_id: "test-webhook",
          actor_type: "api_key",
          source: "rest",
          ip: "127.0.0.1",
          before: "pending",
          after: "confirmed"
        }])
      }))

    it.effect("the same event again is a duplicate; another one for a confirmed order changes nothing", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const event = eventOf("payment_intent.succeeded", order)
        yield* send(event)
        assert.deepStrictEqual((yield* send(event)).at("data"), { received: true, duplicate: true })
        const second = yield* send(eventOf("payment_intent.succeeded", order, { amount: 1 }))
        assert.deepStrictEqual([second.status, second.at("data")], [200, { received: true }])
        assert.strictEqual((yield* read(order)).number("data.amountCaptured"), order.grandTotal)
        assert.strictEqual((yield* historyOf(order)).length, 1)
      }))

    it.effect("without an amount, all that was due counts as captured", () =>
      Effect.gen(function*() {
        const order = yield* given()
        yield* send(eventOf("payment_intent.succeeded", order, { amount: null }))
        assert.strictEqual((yield* read(order)).number("data.amountCaptured"), order.grandTotal)
      }))

    it.effect("over another amount than is due confirms nothing, and its repetition is a duplicate", () =>
      Effect.gen(function*() {
        for (const amount of [0, 1, 999, 1_001]) {
          const order = yield* given()
          const event = eventOf("payment_intent.succeeded", order, { amount })
          assert.deepStrictEqual((yield* send(event)).at("data"), { received: true })
          const after = yield* read(order)
          assert.deepStrictEqual([after.at("data.status"), after.at("data.amountCaptured")], ["pending", null])
          assert.deepStrictEqual((yield* send(event)).at("data"), { received: true, duplicate: true })
        }
      }))

    it.effect("of an order that is cancelled confirms nothing, and the money goes back once", () =>
      Effect.gen(function*() {
        const order = yield* given({ status: "cancelled" })
        const event = eventOf("payment_intent.succeeded", order)
        yield* send(event)
        yield* send(event)
        assert.strictEqual((yield* read(order)).text("data.status"), "cancelled")
        assert.lengthOf(yield* refundsOf(order), 1)
      }))

    it.effect("ten at once confirm once", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const event = eventOf("payment_intent.succeeded", order)
        const answers = yield* Effect.all(Array.from({ length: 10 }, () => send(event)), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map((answer) => answer.status).filter((status) => status !== 200), [])
        assert.strictEqual(answers.filter((answer) => answer.at("data.duplicate") === undefined).length, 1)
        assert.strictEqual((yield* historyOf(order)).length, 1)
      }))

    it.effect("is accepted and ignored for an unknown order, another intent, currency or organization", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const metadata = (orderId: unknown, organizationId = "org_default") => ({
          metadata: { orderId, organizationId }
        })
        for (
          const object of [
            metadata(newId()),
            metadata("no-uuid"),
            { metadata: {} },
            metadata(order.id, "org_else"),
            { id: "pi_other" },
            { currency: "eur" }
          ]
        ) {
          const answer = yield* send(eventOf("payment_intent.succeeded", order, object))
          assert.deepStrictEqual([answer.status, answer.at("data")], [200, { received: true }], JSON.stringify(object))
        }
        assert.strictEqual((yield* read(order)).text("data.status"), "pending")
      }))

    it.effect("the same event id in another organization is another event", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* given(), yield* given({ organizationId: "org_there" })]
        const id = newId()
        yield* send(eventOf("payment_intent.succeeded", here, {}, id))
        const answer = yield* send(eventOf("payment_intent.succeeded", there, {}, id))
        assert.deepStrictEqual(answer.at("data"), { received: true })
        assert.strictEqual((yield* read(there)).text("data.status"), "confirmed")
      }))
  })

  describe("failures and refunds", () => {
    it.effect("payment_failed and canceled cancel a pending order and give its stock back", () =>
      Effect.gen(function*() {
        // An authorization whose payment failed is voided; one that has ended needs no void.
        const voids = { "payment_intent.payment_failed": 1, "payment_intent.canceled": 0 }
        for (const [type, count] of Object.entries(voids)) {
          const order = yield* given({ lines: [{ quantity: 2 }], onHand: 5 })
          assert.strictEqual((yield* send(eventOf(type, order))).status, 200)
          assert.strictEqual((yield* read(order)).text("data.status"), "cancelled")
          assert.deepStrictEqual(yield* onDatabase(stockOf(order)), {
            onHand: 5,
            reserved: 0,
            version: 1,
            hold: "released"
          })
          assert.lengthOf(yield* refundsOf(order), count, type)
        }
      }))

    it.effect("payment_failed and canceled leave an order alone that was paid, also while it is still pending", () =>
      Effect.gen(function*() {
        for (const type of ["payment_intent.payment_failed", "payment_intent.canceled"]) {
          const order = yield* given({ captured: 1_000, onHand: 5 })
          const event = eventOf(type, order)
          assert.deepStrictEqual((yield* send(event)).at("data"), { received: true })
          const after = yield* read(order)
          assert.deepStrictEqual([after.text("data.status"), after.number("data.refundedTotal")], ["pending", 0])
          assert.strictEqual((yield* onDatabase(stockOf(order)))?.reserved, 1)
          assert.deepStrictEqual((yield* send(event)).at("data"), { received: true, duplicate: true })
        }
      }))

    it.effect("payment_failed leaves an order alone that is confirmed already", () =>
      Effect.gen(function*() {
        const order = yield* given({ status: "confirmed", captured: 1_000 })
        assert.strictEqual((yield* send(eventOf("payment_intent.payment_failed", order))).status, 200)
        assert.strictEqual((yield* read(order)).text("data.status"), "confirmed")
      }))

    it.effect("charge.refunded notes the money once and marks a wholly refunded order so", () =>
      Effect.gen(function*() {
        const order = yield* given({ status: "fulfilled", captured: 1_000 })
        yield* send(eventOf("charge.refunded", order, { amount: 400 }))
        yield* send(eventOf("charge.refunded", order, { amount: 400 }))
        const partly = yield* read(order)
        assert.deepStrictEqual([partly.text("data.status"), partly.number("data.refundedTotal")], ["fulfilled", 400])
        yield* send(eventOf("charge.refunded", order, { amount: 1_000 }))
        const wholly = yield* read(order)
        assert.deepStrictEqual([wholly.text("data.status"), wholly.number("data.refundedTotal")], ["refunded", 1_000])
        const confirmed = yield* given({ status: "confirmed", captured: 1_000 })
        yield* send(eventOf("charge.refunded", confirmed, { amount: 5_000 }))
        const bounded = yield* read(confirmed)
        assert.deepStrictEqual([bounded.text("data.status"), bounded.number("data.refundedTotal")], [
          "confirmed",
          1_000
        ])
      }))

    it.effect("charge.refunded of an order nothing was captured of notes nothing", () =>
      Effect.gen(function*() {
        const order = yield* given()
        assert.strictEqual((yield* send(eventOf("charge.refunded", order))).status, 200)
        assert.strictEqual((yield* read(order)).number("data.refundedTotal"), 0)
      }))

    it.effect("charge.refunded after a refund of ours counts nothing twice", () =>
      Effect.gen(function*() {
        const order = yield* given({ status: "confirmed", captured: 1_000 })
        yield* api("PATCH", `/api/orders/${order.id}/status`, { as: asAdmin, body: { status: "cancelled" } })
        assert.strictEqual((yield* send(eventOf("charge.refunded", order))).status, 200)
        assert.strictEqual((yield* read(order)).number("data.refundedTotal"), 1_000)
      }))

    it.effect("an unknown type is accepted and ignored", () =>
      Effect.gen(function*() {
        const order = yield* given()
        assert.deepStrictEqual((yield* send(eventOf("customer.updated", order))).at("data"), { received: true })
      }))
  })

  describe("verification", () => {
    it.effect("400 for a missing or wrong signature and for what is no event", () =>
      Effect.gen(function*() {
        const order = yield* given()
        const event = eventOf("payment_intent.succeeded", order)
        const unsigned = yield* api("POST", "/api/payments/webhook", { body: event })
        assert.deepStrictEqual([unsigned.status, unsigned.at("error.code")], [400, "WEBHOOK_SIGNATURE_MISSING"])
        const forged = yield* send(event, "guessed")
        assert.deepStrictEqual([forged.status, forged.at("error.code")], [400, "WEBHOOK_VERIFICATION_FAILED"])
        const nonsense = yield* send({ id: 1 })
        assert.deepStrictEqual([nonsense.status, nonsense.at("error.code")], [400, "WEBHOOK_VERIFICATION_FAILED"])
        assert.strictEqual((yield* read(order)).text("data.status"), "pending")
      }))
  })
})
