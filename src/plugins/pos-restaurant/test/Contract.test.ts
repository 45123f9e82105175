import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { contractOf, machineOf, optionsTable } from "stoa/plugin/testing"
import { cashier, clerk } from "../../pos/test/TillShop.ts"
import { posRestaurant } from "../index.ts"
import { floor } from "../Tables.ts"
import { openRestaurant, type RestaurantShop } from "./RestaurantShop.ts"

/** contract-plugins §3.3; kitchens have the same checks in `Kitchens.test.ts`. */
describe("the plugin for restaurants", () => {
  let shop: RestaurantShop
  beforeAll(async () => {
    shop = await openRestaurant()
  })
  afterAll(() => shop.close())

  const run = async (checks: ReturnType<typeof contractOf>) => {
    const wrong: Array<string> = []
    for (const { name, run } of checks) await run().catch((error) => wrong.push(`${name}: ${error}`))
    assert.deepStrictEqual(wrong, [])
  }

  it("has its options in its README", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
    assert.include(readme, optionsTable(posRestaurant()))
  })

  it("admits waiters to what they need on the floor, and managers of the restaurant to the rest", async () => {
    const id = "11111111-1111-4111-8111-111111111111"
    const [operate, admin] = [[
      "GET /tables",
      "GET /tables/zones",
      `POST /tables/${id}/assign`,
      `POST /tables/${id}/bill`,
      `POST /tables/${id}/leave`,
      `POST /tables/${id}/clear`,
      `POST /tables/${id}/transfer`,
      "GET /checklists",
      `POST /checklists/${id}/complete`,
      "GET /alerts",
      `POST /alerts/${id}/resolve`,
      `GET /customers/${id}/favorites`
    ], [
      "POST /tables",
      `PATCH /tables/${id}`,
      `PATCH /tables/${id}/layout`,
      "POST /checklists",
      `DELETE /checklists/${id}`,
      "POST /alerts/detect",
      "GET /alerts/config",
      "POST /alerts/config",
      "GET /analytics/daily-pnl",
      "POST /analytics/daily-pnl",
      `POST /analytics/daily-pnl/${id}/submit`,
      "GET /tips/report?from=2031-01-01&to=2031-01-02"
    ]]
    const ask = async (route: string, as: typeof cashier) => {
      const [method = "", path = ""] = route.split(" ")
      return (await shop.ask(method, `/pos/restaurant${path}`, method === "GET" ? undefined : {}, as)).status
    }
    const owner = { ...cashier, permissions: ["pos-restaurant:admin"] }
    for (const route of operate) {
      assert.deepStrictEqual([await ask(route, clerk), await ask(route, owner)], [403, 403], route)
      assert.include([200, 404, 422], await ask(route, cashier), route)
    }
    for (const route of admin) {
      assert.deepStrictEqual([await ask(route, clerk), await ask(route, cashier)], [403, 403], route)
      assert.include([200, 201, 404, 422], await ask(route, owner), route)
    }
  })

  it("moves tables along their states", { timeout: 120_000 }, async () => {
    const path = "/api/pos/restaurant/tables"
    await run(machineOf(shop.app, floor, {
      path,
      without: ["assign", "vacate"],
      // One that is not active holds no bill up.
      samples: { pos_checklists: { isActive: false } }
    }))
  })

  it("keeps the rules of every plugin", { timeout: 240_000 }, async () => {
    const isOurs = ({ path }: { readonly path: string }) => path.includes("/pos/restaurant/") && !path.includes("/kds/")
    await run(contractOf({ ...shop.app, routes: shop.app.routes.filter(isOurs) }, { bodies: 2 }))
  })
})
