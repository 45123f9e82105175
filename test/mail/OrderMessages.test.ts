import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { eventually } from "../support/Eventually.ts"
import { aFreePort, headerOf, startMailServer } from "../support/MailServer.ts"
import { aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, live } from "../support/TestApp.ts"
import { aCartOf, mailing, shopMailingTo } from "./MailedShop.ts"

class MailPort extends Context.Service<MailPort, number>()("stoa/test/mail/MessagesMailPort") {}

const Shop = Layer.unwrap(
  Effect.map(aFreePort, (port) => Layer.provideMerge(shopMailingTo(port), Layer.succeed(MailPort, port)))
)

const anOrderOf = Effect.fnUntraced(function*(email: string | undefined) {
  const placed = yield* checkOut(yield* aCartOf(email))
  assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
  return { id: placed.text("data.id"), path: `/api/orders/${placed.text("data.id")}/messages` }
})

const messagesOf = (path: string) => api("GET", path, { as: asAdmin })

/** The messages of an order once the newest has this status. */
const once = (path: string, status: string) =>
  mailing(
    `a message that is ${status}`,
    Effect.map(messagesOf(path), (got) => got.at("data.0.status") === status && got)
  )

layer(Shop, live)("messages about an order", (it) => {
  it.effect("are shown with receiver, subject and time once they are sent, and can be sent again", () =>
    Effect.gen(function*() {
      const server = yield* Effect.flatMap(MailPort, (port) => startMailServer({ port }))
      const { path } = yield* anOrderOf("ann@home.example")
      const queued = yield* eventually(
        "the message that waits",
        Effect.map(messagesOf(path), (got) => got.list("data").length === 1 && got)
      )
      assert.deepInclude(queued.at("data.0"), {
        kind: "order-confirmation",
        channel: "email",
        to: "ann@home.example",
        subject: null,
        status: "queued",
        reason: null,
        sentAt: null,
        resentFrom: null
      })
      const early = yield* api("POST", `${path}/${queued.text("data.0.id")}/resend`, { as: asAdmin })
      assert.deepStrictEqual([early.status, early.at("error.message")], [
        409,
        "The message is still waiting to be sent."
      ])
      const sent = yield* once(path, "sent")
      assert.match(sent.text("data.0.subject"), /^Your order /)
      assert.isString(sent.at("data.0.sentAt"))

      const again = yield* api("POST", `${path}/${sent.text("data.0.id")}/resend`, {
        as: asAdmin,
        body: { to: "office@home.example" }
      })
      assert.strictEqual(again.status, 202)
      assert.deepInclude(again.at("data"), {
        status: "queued",
        to: "office@home.example",
        resentFrom: sent.at("data.0.id")
      })
      const both = yield* once(path, "sent")
      assert.strictEqual(both.at("meta.pagination.total"), 2)
      const subjects = server.arrived.map((mail) => [mail.to[0], headerOf(mail, "subject")])
      assert.deepStrictEqual(subjects, [
        ["ann@home.example", sent.at("data.0.subject")],
        ["office@home.example", sent.at("data.0.subject")]
      ])
    }))

  it.effect("that a server refuses are failed with its reason, and listed for staff", () =>
    Effect.gen(function*() {
      const server = yield* Effect.flatMap(MailPort, (port) => startMailServer({ port }))
      server.next({ at: "receiver", code: 550, text: "5.1.1 no such mailbox" })
      const { id, path } = yield* anOrderOf("typo@home.example")
      const failed = yield* once(path, "failed")
      assert.match(failed.text("data.0.reason"), /550 5\.1\.1 no such mailbox/)
      const listed = yield* api("GET", "/api/messages?status=failed", { as: asAdmin })
      assert.deepStrictEqual(listed.list("data"), failed.list("data"))
      assert.deepStrictEqual(
        [listed.at("meta.pagination.total"), listed.at("data.0.orderId")],
        [1, id]
      )
      assert.strictEqual(
        (yield* api("POST", `${path}/${failed.text("data.0.id")}/resend`, { as: asAdmin })).status,
        202
      )
      yield* once(path, "sent")
    }))

  it.effect("without an address are skipped, and say so", () =>
    Effect.gen(function*() {
      const { path } = yield* anOrderOf(undefined)
      const skipped = yield* once(path, "skipped")
      assert.deepInclude(skipped.at("data.0"), { to: null, reason: "The order has no e-mail address." })
      const resend = `${path}/${skipped.text("data.0.id")}/resend`
      assert.strictEqual((yield* api("POST", resend, { as: asAdmin })).status, 422)
      assert.strictEqual((yield* api("POST", resend, { as: asAdmin, body: { to: "no address" } })).status, 422)
      assert.strictEqual((yield* api("POST", resend, { as: asAdmin, body: { to: "bea@home.example" } })).status, 202)
    }))

  it.effect("are for staff, of orders and messages that are there", () =>
    Effect.gen(function*() {
      const { path } = yield* anOrderOf("cy@home.example")
      const none = "00000000-0000-4000-8000-000000000000"
      const answers = yield* Effect.all([
        api("GET", path),
        api("GET", `/api/orders/${none}/messages`, { as: asAdmin }),
        api("POST", `${path}/${none}/resend`, { as: asAdmin }),
        api("GET", "/api/messages?status=lost", { as: asAdmin })
      ])
      assert.deepStrictEqual(answers.map(({ status }) => status), [401, 404, 404, 422])
    }))

  it.effect("lose receiver, subject and content when their buyer is erased", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(MailPort, (port) => startMailServer({ port }))
      const buyer = asCustomer("user-who-leaves")
      const cart = yield* api("POST", "/api/carts", { as: buyer, body: { currency: "USD", email: "eve@home.example" } })
      const product = { entityId: yield* aProduct({ price: 500 }), quantity: 1 }
      yield* api("POST", `/api/carts/${cart.text("data.id")}/items`, { as: buyer, body: product })
      const placed = yield* api("POST", "/api/checkout", {
        as: buyer,
        body: { cartId: cart.text("data.id"), paymentMethodId: "test", currency: "USD" }
      })
      const path = `/api/orders/${placed.text("data.id")}/messages`
      const sent = yield* once(path, "sent")
      const order = `/api/orders/${placed.text("data.id")}/status`
      assert.strictEqual((yield* api("PATCH", order, { as: asAdmin, body: { status: "cancelled" } })).status, 200)
      const erased = yield* api("DELETE", "/api/me", { as: buyer })
      assert.isBelow(erased.status, 300)
      const after = yield* messagesOf(path)
      assert.isNotEmpty(after.list("data"))
      for (const message of after.list("data")) assert.deepInclude(message, { to: null, subject: null })
      const again = yield* api("POST", `${path}/${sent.text("data.0.id")}/resend`, {
        as: asAdmin,
        body: { to: "other@home.example" }
      })
      assert.deepStrictEqual([again.status, again.at("error.code")], [409, "CONFLICT"])
    }))
})
