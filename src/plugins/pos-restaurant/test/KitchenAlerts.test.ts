import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type KitchenShop, openKitchen } from "./KitchenShop.ts"

/** contract-tills-channels B (36). The schedule does not run: each test looks when it wants to. */
describe("alerts about kitchens", () => {
  let shop: KitchenShop
  let till: Awaited<ReturnType<KitchenShop["till"]>>
  beforeAll(async () => {
    shop = await openKitchen({}, { jobs: { autorun: { enabled: false } } })
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const detect = async () => (await shop.done("POST", "/alerts/detect")).at("data")
  const none = { delayed: 0, notStarted: 0, occupancy: 0, unclosedBills: 0, cancellations: 0, modifications: 0 }
  const messages = async (type: string) =>
    (await shop.done("GET", `/alerts?type=${type}`)).list("data").map((one) => Reflect.get(Object(one), "message"))
  const fired = async (stationBody: object = {}) => {
    const group = shop.group()
    await shop.station([group], stationBody)
    const dish = await shop.dish(group)
    const sale = await shop.order(till, [{ entityId: dish, quantity: 9 }])
    const ticket = (await shop.fire(sale.id)).at("data.tickets.0")
    return { ...sale, dish, ticketId: String(Reflect.get(Object(ticket), "id")), itemId: sale.items[0] }
  }

  it("are raised for a ticket that is not started, and one later than its station allows", async () => {
    const slow = await fired({ alertThresholdMinutes: 20 })
    const started = await fired({ alertThresholdMinutes: 30 })
    await shop.done("POST", `/kds/tickets/${started.ticketId}/start`)
    shop.app.clock.advance("9 minutes")
    assert.deepStrictEqual(await detect(), none)
    shop.app.clock.advance("2 minutes")
    assert.deepStrictEqual(await detect(), { ...none, notStarted: 1 })
    assert.deepStrictEqual(await messages("kot_not_started"), ["Ticket KDS-0001 was not started for 11 minutes."])
    await shop.done("POST", `/kds/tickets/${slow.ticketId}/start`)
    shop.app.clock.advance("10 minutes")
    assert.deepStrictEqual(await detect(), { ...none, delayed: 1 })
    assert.deepStrictEqual(await messages("delayed_order"), ["Ticket KDS-0001 is not ready after 21 minutes."])
    await shop.done("POST", `/kds/tickets/${started.ticketId}/ready`)
    shop.app.clock.advance("10 minutes")
    assert.deepStrictEqual(await detect(), none)
    await shop.done("POST", `/kds/tickets/${slow.ticketId}/ready`)
  })

  it("are raised for a sale whose tickets are changed or cancelled more often than allowed", async () => {
    for (const alertType of ["excessive_cancellations", "excessive_modifications"]) {
      await shop.done("POST", "/alerts/config", { alertType, thresholdMinutes: 1 })
    }
    const { dish, id, itemId, path } = await fired()
    const set = async (quantity: number) => {
      await shop.tills.done("PATCH", `${path}/items/${itemId}`, { quantity, reason: "Other wish" })
      await shop.fire(id)
    }
    await set(8)
    await shop.add(path, { entityId: dish, notes: "1" })
    await shop.fire(id)
    assert.deepStrictEqual(await detect(), none)
    await set(7)
    await shop.add(path, { entityId: dish, notes: "2" })
    await shop.fire(id)
    assert.deepStrictEqual(await detect(), { ...none, cancellations: 1, modifications: 1 })
    assert.deepStrictEqual(await detect(), none)
    assert.deepStrictEqual(await messages("excessive_cancellations"), ["A sale has 2 tickets that cancel."])
    // Nothing is left to cook, so nothing is late.
    await shop.tills.done("POST", `${path}/void`, { reason: "x" })
    await shop.fire(id)
    shop.app.clock.advance("1 hour")
    assert.deepStrictEqual(await detect(), none)
  })
})
