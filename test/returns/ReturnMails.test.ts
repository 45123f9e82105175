import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { mailing, shopMailingTo } from "../mail/MailedShop.ts"
import { aFreePort, bodiesOf, headerOf, startMailServer } from "../support/MailServer.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asStaff, at } from "../support/TestApp.ts"
import { ask, expecting, receipt, type Sold, sold, step } from "./ReturnFixtures.ts"

let port = 0
const Shop = Layer.unwrap(Effect.map(aFreePort, (free) => shopMailingTo(port = free)))

const to = "ann@home.example"

const soldToAnn = Effect.gen(function*() {
  const order = yield* sold(9)
  yield* onDatabase((sql) => sql`update orders set email = ${to} where id = ${order.id}::uuid`)
  return order
})

const asked = (order: Sold, quantity: number) =>
  Effect.map(expecting(201, ask(order, quantity)), (answer) => answer.text("data.id"))

layer(Shop, { excludeTestServices: true, timeout: "120 seconds" })("the buyer of a return", (it) => {
  it.effect("gets a mail about each step, which the order's timeline has too", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer({ port })
      const order = yield* soldToAnn
      const returned = () =>
        server.arrived.filter((mail) => headerOf(mail, "subject")?.startsWith("Your return "))
          .map((mail) => ({ mail, subject: headerOf(mail, "subject") ?? "" }))
      const take = (id: string, verb: string, body?: object) => expecting(200, step(order, id, verb, body))
      const [refused, withdrawn, back, swapped] = yield* Effect.all([1, 1, 3, 2].map((units) => asked(order, units)))
      yield* take(refused ?? "", "reject", { reason: "It was worn." })
      yield* take(withdrawn ?? "", "cancel")
      for (const id of [back ?? "", swapped ?? ""]) {
        yield* take(id, "approve", { instructions: "Use the box.", labelUrl: "https://label.example/1.pdf" })
        yield* take(id, "receive", receipt(order, 2))
      }
      yield* take(back ?? "", "refund", {})
      const lines = [{ entityId: yield* aProduct({ price: 2_000, stock: 5 }), quantity: 1 }]
      const exchanged = yield* take(swapped ?? "", "exchange", { lines })
      yield* mailing("all mails", Effect.sync(() => returned().length >= 12))

      const number = (place: number) => `Your return ${order.orderNumber}-R${place}`
      assert.deepStrictEqual(
        returned().map(({ subject }) => subject).toSorted(),
        [
          `${number(1)} is rejected`,
          `${number(1)} is requested`,
          `${number(2)} is cancelled`,
          `${number(2)} is requested`,
          `${number(3)} is approved`,
          `${number(4)} is approved`,
          `${number(4)} is exchanged`,
          `${number(3)} is received`,
          `${number(3)} is refunded`,
          `${number(3)} is requested`,
          `${number(4)} is received`,
          `${number(4)} is requested`
        ].toSorted()
      )
      const text = (subject: string) => {
        const found = returned().find((one) => one.subject === subject)
        return found === undefined ? "" : bodiesOf(found.mail).text
      }
      assert.include(text(`${number(1)} is rejected`), "It was worn.")
      assert.include(text(`${number(3)} is requested`), "3 × Title of")
      assert.include(text(`${number(3)} is approved`), "Use the box.")
      assert.include(text(`${number(3)} is approved`), "https://label.example/1.pdf")
      assert.include(text(`${number(3)} is refunded`), "2 × Title of")
      assert.include(text(`${number(3)} is refunded`), "$20.00")
      const replacement = yield* api("GET", `/api/orders/${exchanged.text("data.replacementOrderId")}`, { as: asStaff })
      assert.include(text(`${number(4)} is exchanged`), replacement.text("data.orderNumber"))

      const timeline = yield* api("GET", `/api/orders/${order.id}/timeline?limit=100`, { as: asStaff })
      const entries = timeline.list("data").filter((one) => at(one, "kind") === "return")
      assert.deepStrictEqual(
        entries.filter((one) => at(one, "data.returnId") === swapped).map((one) => at(one, "type")),
        ["requested", "approved", "received", "exchanged"]
      )
      assert.deepInclude(at(entries.at(-1), "data"), {
        number: `${order.orderNumber}-R4`,
        replacementOrderId: replacement.text("data.id")
      })
      const mailed = timeline.list("data").filter((one) => at(one, "type") === "order-return")
      assert.lengthOf(mailed, 12)
    }))
})
