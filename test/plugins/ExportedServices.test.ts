import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, Text } from "stoa/plugin"
import { createPluginTestApp, type PluginTestApp, testAdminActor } from "stoa/plugin/testing"
import { GiftCards, giftCards } from "../../src/plugins/gift-cards/index.ts"
import { notifications, PrintQueue } from "../../src/plugins/notifications/index.ts"

const routes = group("Kitchen", "/kitchen")
const Ticket = Schema.Struct({ of: Text, text: Text })

/** A plugin that prints tickets and gives cards by what other plugins export. */
const kitchen = definePlugin({
  id: "kitchen",
  version: "1.0.0",
  requires: ["notifications", "gift-cards"],
  uses: [PrintQueue, GiftCards],
  routes: () => [
    routes.post("/tickets", { auth: true, input: Ticket }).handle(({ input: { of, text } }) =>
      PrintQueue.use(({ print }) => print({ type: "kot", printerId: "stove", content: { text }, of }))
    ),
    routes.post("/apologies", { auth: true, input: Schema.Struct({ amount: Schema.Int }) }).handle(({ db, input }) =>
      db.transaction(Effect.gen(function*() {
        yield* (yield* PrintQueue).print({ type: "receipt", printerId: "till", content: {} })
        const { code } = yield* (yield* GiftCards).issue({ ...input, currency: "EUR" })
        return { code }
      }))
    )
  ]
})

describe("a plugin that uses the queue of printers and gift cards", () => {
  let test: PluginTestApp
  beforeAll(async () => {
    const plugins = [notifications(), giftCards({ maxBalancePerCard: 5_000 }), kitchen]
    test = await createPluginTestApp(plugins, { postgres: inject("postgres") })
  })
  afterAll(() => test.close())

  const post = (path: string, body: object) =>
    test.app.request("POST", `/api/kitchen${path}`, { as: testAdminActor, body })
  const printed = async (printer: string) =>
    Number((await test.db.query("select 1 from notification_print_jobs where printer_id = $1", [printer])).length)

  it("prints a ticket once, however often it asks", async () => {
    const ticket = { of: "018f0000-0000-7000-8000-000000000001", text: "2 x soup" }
    const answers = [await post("/tickets", ticket), await post("/tickets", ticket)]
    assert.deepStrictEqual([answers.map(({ status }) => status), await printed("stove")], [[201, 201], 1])
  })

  it("gives a card and prints for it, or neither", async () => {
    const tooMuch = await post("/apologies", { amount: 5_001 })
    assert.deepStrictEqual([tooMuch.status, await printed("till")], [422, 0])
    const given = await post("/apologies", { amount: 500 })
    assert.deepStrictEqual([given.status, await printed("till")], [201, 1])
  })
})
