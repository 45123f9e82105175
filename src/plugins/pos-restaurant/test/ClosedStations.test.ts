import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cashier } from "../../pos/test/TillShop.ts"
import { columns, type KitchenShop, openKitchen } from "./KitchenShop.ts"

let shop: KitchenShop
beforeAll(async () => {
  shop = await openKitchen()
})
afterAll(() => shop.close())

type Station = Awaited<ReturnType<KitchenShop["station"]>>
const close = ({ path }: Station) => shop.done("PATCH", path, { isActive: false })

/** Two units at these stations; `fire` changes the quantity and answers station, type and units of the new tickets. */
const atStations = async (...names: ReadonlyArray<string>) => {
  const food = shop.group()
  const open: Record<string, Station> = {}
  const station = async (name: string) => (open[name] = await shop.station([food]))
  for (const name of names) await station(name)
  const entityId = await shop.dish(food)
  const sale = await shop.order(await shop.till({}, 10_000, cashier), [{ entityId, quantity: 2 }])
  const [itemId = ""] = sale.items
  const itemPath = `/pos${sale.path}/items/${itemId}`
  const fire = async (quantity?: number) => {
    if (quantity !== undefined) await shop.core("PATCH", itemPath, { quantity, reason: "x" })
    const fired = await shop.fire(sale.id)
    const nameOf = (id: unknown) => Object.keys(open).find((name) => open[name]?.id === id)
    return {
      tickets: columns(fired.list("data.tickets"), "stationId", "type", "items.0.quantity")
        .map(([id, ...rest]) => [nameOf(id), ...rest].join(" ")).toSorted(),
      unrouted: columns(fired.list("data.unrouted"), "lineId", "quantity")
    }
  }
  await fire()
  return { closing: (name: string) => close(open[name] as Station), entityId, fire, itemId, itemPath, sale, station }
}

describe("a line whose station has closed", () => {
  it("goes on at one that is open, and is taken back from where it is", async () => {
    const { closing, fire, station } = await atStations("grill")
    await closing("grill")
    await station("pass")
    assert.deepStrictEqual((await fire(5)).tickets, ["pass new_order 3"])
    assert.deepStrictEqual(await fire(), { tickets: [], unrouted: [] })
    assert.deepStrictEqual((await fire(4)).tickets, ["pass partially_cancelled 1"])
    assert.deepStrictEqual((await fire(1)).tickets, ["grill partially_cancelled 1", "pass cancelled 2"])
  })

  it("is answered as unrouted while none is open", async () => {
    const { closing, fire, itemId, station } = await atStations("grill")
    await closing("grill")
    assert.deepStrictEqual(await fire(5), { tickets: [], unrouted: [[itemId, 3]] })
    await station("pass")
    assert.deepStrictEqual(await fire(), { tickets: ["pass new_order 3"], unrouted: [] })
  })

  it("goes on at the others that cook it too", async () => {
    const { closing, fire } = await atStations("grill", "pass")
    await closing("grill")
    assert.deepStrictEqual((await fire(5)).tickets, ["pass modified 3"])
    assert.deepStrictEqual((await fire(1)).tickets, ["grill partially_cancelled 1", "pass partially_cancelled 4"])
  })

  it("can be paid when its dish has become unavailable", async () => {
    const { closing, entityId, fire, sale, station } = await atStations("grill")
    await closing("grill")
    await station("pass")
    await fire(5)
    await shop.done("PUT", `/menu/${entityId}`, { isAvailable: false })
    await shop.pay(sale.path, 5_000)
    assert.strictEqual((await shop.complete(sale.path)).at("data.transaction.total"), 5_000)
  })

  it("counts units of both stations for an approval, a split and a merge", async () => {
    const { closing, fire, itemId, itemPath, sale, station } = await atStations("grill")
    await closing("grill")
    await station("pass")
    await fire(5)
    const lowered = await shop.ask("PATCH", itemPath, { quantity: 4, reason: "x" }, cashier)
    assert.strictEqual(lowered.at("error.code"), "OVERRIDE_REQUIRED")
    const split = await shop.core("POST", `/pos${sale.path}/split`, { parts: [{ items: [{ itemId, quantity: 4 }] }] })
    const [rest, part] = columns(split.list("data.transactions"), "id", "items.0.id")
    assert.sameMembers(await shop.unitsOf(String(part?.[1])), [2, 2])
    assert.deepStrictEqual((await fire()).tickets, [])
    await shop.core("POST", `/pos/transactions/${part?.[0]}/merge`, { from: rest?.[0] })
    assert.deepStrictEqual((await shop.fire(String(part?.[0]))).list("data.tickets"), [])
    assert.sameMembers(await shop.unitsOf(String(part?.[1])), [2, 3])
  })
})
