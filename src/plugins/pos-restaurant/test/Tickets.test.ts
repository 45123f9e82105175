import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { machineOf, raceOf, testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { cashier, outsider } from "../../pos/test/TillShop.ts"
import { ticket } from "../Tickets.ts"
import { columns, type KitchenShop, openKitchen } from "./KitchenShop.ts"

let shop: KitchenShop
beforeAll(async () => {
  shop = await openKitchen({ kdsAlertMinutes: 20, courses: ["Starters"] })
})
afterAll(() => shop.close())

/** A ticket of two dishes at a station. */
const aTicket = async () => {
  const food = shop.group()
  const [at, station, first, second] = [
    await shop.till(),
    await shop.station([food]),
    await shop.dish(food),
    await shop.dish(food)
  ]
  const sale = await shop.order(at, [{ entityId: first, course: 2 }, { entityId: second, course: 1 }])
  const fired = await shop.fire(sale.id)
  const path = `/kds/tickets/${fired.text("data.tickets.0.id")}`
  const items = columns(fired.list("data.tickets.0.items"), "id").flat().map(String)
  const move = (name: string) => shop.done("POST", `${path}/${name}`)
  const open = async (query = "") => columns(await shop.tickets(station, query), "id").flat()
  return { id: path.slice(13), path, items, station, sale, move, open, fired }
}

describe("tickets of a kitchen", () => {
  it("go from pending to served, one back when recalled, and leave the list of the station", async () => {
    const { id, items, move, open, path, fired } = await aTicket()
    assert.deepStrictEqual(columns(fired.list("data.tickets.0.items"), "courseName").flat(), ["Starters", "Course 2"])
    await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/ready`)
    await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/recall`)
    await move("start")
    shop.app.clock.advance("90 seconds")
    assert.strictEqual((await move(`items/${items[0]}/done`)).at("data.status"), "done")
    assert.deepStrictEqual(await open("&state=preparing"), [id])
    await move(`items/${items[1]}/done`)
    assert.deepStrictEqual(await open("&state=ready"), [id])
    assert.strictEqual((await move("recall")).at("data.status"), "preparing")
    const again = await move("ready")
    assert.isNumber(again.at("data.prepDurationSeconds"))
    await move("serve")
    assert.deepStrictEqual(await open(), [])
    assert.deepStrictEqual(await open("&state=served&since=2020-01-01"), [id])
    assert.deepStrictEqual(await open("&state=served&since=2999-01-01"), [])
    await move("recall")
    assert.deepStrictEqual(await open(), [id])
  })

  it("are bumped, and rushed before older ones", async () => {
    const { fired: _, move, open, station, sale, id } = await aTicket()
    await shop.add(sale.salePath, {
      entityId: String(columns(await shop.tickets(station), "items.0.entityId")[0]?.[0])
    })
    const later = (await shop.fire(sale.id)).text("data.tickets.0.id")
    assert.deepStrictEqual(await open(), [id, later])
    await shop.done("POST", `/kds/tickets/${later}/priority`, { priority: "rush" })
    assert.deepStrictEqual(await open(), [later, id])
    const bumped = await move("bump")
    assert.deepStrictEqual([bumped.at("data.status"), bumped.at("data.items.0.status")], ["ready", "done"])
    assert.strictEqual((await move("bump")).at("data.status"), "served")
    await shop.refused("422 INVALID_TRANSITION", "POST", `/kds/tickets/${id}/bump`)
    assert.deepStrictEqual(await open(), [later])
  })

  it("are moved by one of several cooks, and by none of another organization", async () => {
    const { path, items } = await aTicket()
    for (const name of ["start", "ready", "serve"]) {
      await raceOf(shop.app, { method: "POST", path: `/api/pos/restaurant${path}/${name}` })
    }
    for (const name of ["start", "ready", "serve", "recall", "bump", `items/${items[0]}/done`]) {
      await shop.refused("404 NOT_FOUND", "POST", `${path}/${name}`, undefined, outsider)
    }
    await shop.refused("404 NOT_FOUND", "POST", `${path}/priority`, { priority: "rush" }, outsider)
  })

  it("are ready once the last items are done, also at once", async () => {
    const { items, path, open, id } = await aTicket()
    await Promise.all(items.map((one) => shop.done("POST", `${path}/items/${one}/done`)))
    assert.deepStrictEqual(await open("&state=ready"), [id])
  })

  it("are watched: a screen hears at once how many there are, and of each change", async () => {
    const { id, move, path, station } = await aTicket()
    const end = new AbortController()
    const watch = (as = cashier) =>
      fetch(`${shop.app.app.url}/api/pos/restaurant${station.path}/stream`, {
        headers: { "x-test-actor": JSON.stringify(as) },
        signal: end.signal
      })
    const response = await watch()
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    let text = ""
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk)
    })().catch(() => undefined)
    const heard = () =>
      [...text.matchAll(/^data: .*"pending":(\d+),"preparing":(\d+),"ready":(\d+)/gm)].map(([, ...states]) =>
        states.join("")
      )
    await waitFor("the first", () => heard().length === 1)
    await move("start")
    await waitFor("the start", () => heard().at(-1) === "010")
    await shop.done("POST", `/kds/tickets/${id}/priority`, { priority: "rush" })
    await waitFor("the rush", () => heard().length === 3)
    await shop.done("POST", `${path}/bump`)
    await waitFor("the bump", () => heard().at(-1) === "001")
    const many = await Promise.all(Array.from({ length: 10 }, () => watch()))
    assert.strictEqual(many.filter(({ status }) => status === 503).length, 1)
    assert.strictEqual((await watch(outsider)).status, 404)
    end.abort()
    await reading
  })

  it("keep to their moves", async () => {
    const without = ["bump", "reopen", "recall"] as const
    const open = { servedAt: null }
    const states = { pending: open, preparing: open, ready: open, served: { servedAt: "2026-01-01T00:00:00Z" } }
    for (const { name, run } of machineOf(shop.app, ticket, { without, states })) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })
})

describe("stations", () => {
  it("have unique names, the threshold of the option, and item groups by name", async () => {
    const { made, path } = await shop.station(["Süsses & Kaffee", "bar"])
    assert.strictEqual(made.at("data.alertThresholdMinutes"), 20)
    await shop.refused("409 CONFLICT", "POST", "/kds/stations", { name: made.text("data.name") })
    await shop.refused("409 CONFLICT", "POST", `${path}/item-groups`, { itemGroup: "bar" })
    await shop.refused("404 NOT_FOUND", "POST", `/kds/stations/${crypto.randomUUID()}/item-groups`, {
      itemGroup: "bar"
    })
    const remove = `${path}/item-groups/${encodeURIComponent("Süsses & Kaffee")}`
    assert.deepStrictEqual((await shop.done("DELETE", remove)).at("data"), { removed: true })
    await shop.refused("404 NOT_FOUND", "DELETE", remove)
    const patched = await shop.done("PATCH", path, { isActive: false, alertThresholdMinutes: 5 })
    assert.deepStrictEqual([patched.at("data.itemGroups"), patched.at("data.isActive")], [["bar"], false])
    await shop.refused("403 FORBIDDEN", "POST", "/kds/stations", { name: "x" }, cashier)
  })

  it("report how fast they, courses and operators are", async () => {
    const { move, station } = await aTicket()
    await move("start")
    await move("ready")
    const span = "from=2020-01-01&to=2100-01-01"
    const of = async (report: string) => (await shop.done("GET", `/analytics/${report}?${span}`)).at("data")
    expect(await of(`station-performance/${station.id}`)).toEqual({
      totalTickets: 1,
      averagePrepSeconds: expect.any(Number),
      ticketsByStatus: [{ status: "ready", count: 1 }]
    })
    expect(await of("course-performance")).toContainEqual({
      courseName: "Starters",
      totalItems: expect.any(Number),
      averagePrepSeconds: expect.any(Number)
    })
    expect(await of("operator-performance")).toContainEqual({
      operatorName: testAdminActor.name,
      totalTickets: expect.any(Number),
      averagePrepSeconds: expect.any(Number)
    })
    await shop.refused("422 VALIDATION_FAILED", "GET", "/analytics/course-performance?from=2026-02-01&to=2026-01-01")
    await shop.refused("422 VALIDATION_FAILED", "GET", "/analytics/course-performance?from=2026-02-01")
  })
})
