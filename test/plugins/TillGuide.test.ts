import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { createPluginTestApp, optionsTable, type PluginTestApp, testAdminActor } from "stoa/plugin/testing"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { pos } from "../../src/plugins/pos/index.ts"
import { routesNamedIn, runGuide, servedBy, valueAt } from "./GuideRequests.ts"

const page = (path: string) => readFile(join(import.meta.dirname, "../..", path), "utf8")

describe("a reader of docs/till.md", () => {
  let test: PluginTestApp
  let answer: Awaited<ReturnType<typeof runGuide>>["answer"]

  /** A member of the staff; gives their id. */
  const member = async (name: string, role: string) => {
    const [user] = await test.db.query(
      "insert into users (name, email, email_verified) values ($1, $2, true) returning id::text as id",
      [name, `${name.toLowerCase()}@example.com`]
    )
    await test.db.query("insert into members (organization_id, user_id, role) values ('org_default', $1::uuid, $2)", [
      user?.["id"],
      role
    ])
    return { id: user?.["id"] }
  }

  beforeAll(async () => {
    test = await createPluginTestApp([giftCards(), pos()], {
      postgres: inject("postgres"),
      store: { defaultCurrency: "CHF" },
      auth: {
        apiKeys: { enabled: true },
        roles: { cashier: ["pos:operate"], supervisor: ["pos:operate", "pos:manage"] }
      }
    })
    const known = { nora: await member("Nora", "cashier"), sam: await member("Sam", "supervisor") }
    const keys = { device: "ipad.key", nora: "login.apiKey" }
    answer = (await runGuide(test.app, await page("docs/till.md"), { known, keys })).answer
  })
  afterAll(() => test?.close())

  const read = async (path: string) => {
    const { body, status } = await test.app.request("GET", `/api${path}`, { as: testAdminActor })
    assert.strictEqual(status, 200, `${path}: ${JSON.stringify(body)}`)
    return valueAt(body, "data")
  }
  const id = (name: string) => String(answer(`${name}.id`))

  it("has a drawer that held what was paid in cash, less what was given back and taken out", async () => {
    const sales = 1910 + 570 + 420 + 1300 + 550 + 840 + 420
    const expected = 20_000 + sales - 1490 - 500 - 10_000
    const shift = await read(`/pos/shifts/${id("shift")}`)
    assert.deepStrictEqual([valueAt(shift, "expectedCash"), valueAt(shift, "cashVariance")], [
      expected,
      14_000 - expected
    ])
  })

  it("has goods in stock that were not sold, or were brought back", async () => {
    const levels = await read("/inventory/levels?limit=100")
    const left = (name: string) =>
      (Array.isArray(levels) ? levels : []).filter((level) => level.entityId === id(name))
        .map((level) => [level.quantityOnHand, level.quantityReserved])
    // Sold: one by gift card, two that waited, one of the bill, the broken one. The one that came back is thrown away.
    assert.deepStrictEqual(left("cake"), [[12 - 5, 0]])
    assert.deepStrictEqual(left("beans"), [[10 - 1, 0]])
    assert.deepStrictEqual(left("espresso"), [])
  })

  it("has one order of each sale, whose totals are those of the closing", async () => {
    const orders = await test.db.query(
      `select count(*)::int as count, sum(grand_total)::int as total, sum(refunded_total)::int as refunded,
        count(distinct coalesce(metadata->>'posTransactionId', id::text))::int as sales from orders`
    )
    const closing = await read(`/pos/closings/${id("closing")}`)
    const [salesTotal, count, refunds] = ["salesTotal", "salesCount", "refundsTotal"].map((field) =>
      valueAt(closing, `totals.${field}`)
    )
    assert.deepStrictEqual(orders, [{ count, total: salesTotal, refunded: refunds, sales: count }])
    assert.strictEqual(valueAt(closing, "grandTotal"), salesTotal)
    assert.deepStrictEqual(
      [salesTotal, refunds],
      [1910 + 1070 + 420 + 1300 + 420 + 1070 + 552 + 1490 + 420, 1490 + 650]
    )
  })

  it("has an empty gift card, and the offline sale once", async () => {
    assert.strictEqual(valueAt(await read(`/gift-cards/${id("card")}`), "balance"), 0)
    const sent = answer("sent.0.transaction.orderId")
    assert.isString(sent)
    assert.strictEqual(answer("again.0.transaction.orderId"), sent)
  })

  it("finds every route and option of the plugin in its README, and no others", async () => {
    const readme = await page("src/plugins/pos/README.md")
    assert.include(readme, optionsTable(pos()))
    assert.deepStrictEqual(routesNamedIn(readme), servedBy(test, "/api/pos"))
  })

  it("has nothing left to do with the key of the shift", async () => {
    const { status } = await test.app.request("GET", "/api/pos/shifts/current", {
      headers: { "x-api-key": String(answer("login.apiKey")) }
    })
    assert.strictEqual(status, 401)
  })
})
