import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin as as, at, withApp } from "../support/TestApp.ts"
import { anOldOrder, aStore, counts, exported, importedOrders, reasons } from "./ImportFixtures.ts"

const done = Effect.fnUntraced(function*(path: string, body: object, who: typeof as = as) {
  const answer = yield* api(path.endsWith("/status") ? "PATCH" : "POST", path, { as: who, body })
  assert.include([200, 201], answer.status, `${path} ${JSON.stringify(answer.body)}`)
  return answer
})

/** A paid order of two units with a rejected, a refunded and an open return, whose unit was refunded otherwise. */
const aReturnedOrder = Effect.gen(function*() {
  const order = yield* checkOut(yield* aCartWith(yield* aProduct({ slug: "cup" }), 2))
  const [path, lineItemId] = [`/api/orders/${order.text("data.id")}`, order.text("data.lineItems.0.id")]
  for (const status of ["confirmed", "processing", "fulfilled"]) yield* done(`${path}/status`, { status })
  const ask = (more: object = {}, photos: ReadonlyArray<string> = []) =>
    Effect.map(
      done(`${path}/returns`, { photos, lines: [{ lineItemId, quantity: 1, ...more }] }),
      (made) => `${path}/returns/${made.text("data.id")}`
    )
  yield* done(`${yield* ask()}/reject`, { reason: "=worn" })
  const back = yield* ask({ reason: "Too small" }, ["https://pictures.example/1.jpg"])
  yield* done(`${back}/approve`, { instructions: "In the box", labelUrl: "https://labels.example/1" })
  yield* done(`${back}/receive`, { lines: [{ lineItemId, quantity: 1, disposition: "scrap" }] })
  yield* done(`${back}/refund`, {})
  yield* ask()
  yield* done(`${path}/refunds`, { lines: [{ lineItemId, quantity: 1 }] })
  return order.text("data.orderNumber")
})

const line = { line: 1, quantity: 1 }
const asked = { status: "requested", requestedAt: "2021-03-05T00:00:00.000Z", lines: [line] }
const received = [{ quantity: 1, disposition: "restock" }]

/** Returns of the old order, whose first line has two units, and the reason of their refusal. */
const wrong: ReadonlyArray<readonly [returns: ReadonlyArray<object>, reason: string]> = [
  [
    [{ ...asked, lines: [{ ...line, line: 3 }] }],
    "0.lines.0.quantity returns.0.lines.0.quantity must not be more than was sold and is not returned."
  ],
  [
    [asked, { ...asked, lines: [{ ...line, quantity: 2 }] }],
    "1.lines.0.quantity returns.1.lines.0.quantity must not be more than was sold and is not returned."
  ],
  [[{ ...asked, lines: [line, line] }], "0.lines returns.0.lines must not name a line twice."],
  [
    [{ ...asked, lines: [{ ...line, received }] }],
    "0.lines.0.received returns.0.lines.0.received must not be more than was asked for and came back."
  ],
  [
    [{ ...asked, receivedAt: "2021-03-06" }],
    "0.receivedAt returns.0.receivedAt must fit a return that is requested: given for goods that came back, else null."
  ],
  [
    [{ ...asked, status: "refunded" }],
    "0.receivedAt returns.0.receivedAt must fit a return that is refunded: given for goods that came back, else null."
  ],
  [[{ ...asked, requestedAt: "2999-01-01" }], "0.requestedAt returns.0.requestedAt must not lie in the future."]
]

withApp("returns in files of orders", (it) => {
  it.effect("come into another store to the byte, as CSV and as lines of JSON", () =>
    Effect.gen(function*() {
      const number = yield* aReturnedOrder
      const catalog = yield* exported("catalog", "jsonl")
      const files = { csv: yield* exported("orders"), jsonl: yield* exported("orders", "jsonl") }
      for (const [format, file] of Object.entries(files)) {
        const store = yield* aStore
        yield* store.send(catalog)
        const query = `kind=orders&format=${format}`
        assert.deepStrictEqual(yield* store.send(file, query), [1, 0, 0, 0])
        const again = { csv: yield* store.exported("orders", "csv"), jsonl: yield* store.exported("orders") }
        assert.deepStrictEqual(again, files)
        assert.deepStrictEqual(yield* store.send(file, query), [0, 0, 1, 0])
        const shown = yield* store.get("returns")
        const all = shown.list("data").map((one) => [at(one, "number"), at(one, "status"), at(one, "rejectionReason")])
        assert.sameDeepMembers(all, [
          [`${number}-R1`, "rejected", "=worn"],
          [`${number}-R2`, "refunded", null],
          [`${number}-R3`, "requested", null]
        ])
      }
    }))

  it.effect("go on here, and a file that does not name them leaves them as they are", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      const old = anOldOrder("B-1", { returns: [asked] })
      const sent = (...orders: ReadonlyArray<object>) => Effect.map(importedOrders(orders, { as: owner }), counts)
      assert.deepStrictEqual(yield* sent(old), [1, 0, 0, 0])
      assert.deepStrictEqual(yield* sent(old, anOldOrder("B-1")), [0, 0, 2, 0])
      assert.deepStrictEqual(yield* sent({ ...old, returns: [{ ...asked, status: "approved" }] }), [0, 0, 0, 1])
      const read = api("GET", "/api/orders/B-1", { as: owner })
      const order = yield* read
      const path = `/api/orders/${order.text("data.id")}/returns`
      const lines = [{ lineItemId: order.text("data.lineItems.0.id"), quantity: 1, disposition: "scrap" }]
      const first = yield* api("GET", path, { as: owner })
      assert.deepInclude(first.at("data.0"), { number: "B-1-R1", status: "requested", requestedBy: null })
      const tooMany = yield* api("POST", path, { as: owner, body: { lines: [{ ...lines[0], quantity: 2 }] } })
      assert.strictEqual(tooMany.status, 422)
      assert.strictEqual((yield* done(path, { lines }, owner)).at("data.number"), "B-1-R2")
      const one = `${path}/${first.text("data.0.id")}`
      yield* done(`${one}/approve`, {}, owner)
      yield* done(`${one}/receive`, { lines }, owner)
      const outside = { givenOutside: { means: "Cash" } }
      assert.strictEqual((yield* done(`${one}/refund`, outside, owner)).at("data.status"), "refunded")
      assert.strictEqual((yield* read).at("data.refundedTotal"), 928)
    }))

  it.effect("are refused where they do not fit their order", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      const orders = wrong.map(([returns], index) => anOldOrder(`W-${index}`, { returns }))
      const sent = yield* importedOrders(orders, { as: owner })
      assert.deepStrictEqual(
        yield* reasons(sent.text("data.id"), owner),
        wrong.map(([, reason], index) => `${index + 1}: returns.${reason}`)
      )
    }))
})
