import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { contractOf, testAdminActor, testCustomerActor, testNoPermActor } from "stoa/plugin/testing"
import { cashier, clerk, code, manager, openTills, outsider, type TillShop } from "./TillShop.ts"

const id = randomUUID()

/** Each route with the least that it takes: contract-plugins §2.3 and contract-tills-channels A. */
const routes = [
  ["POST", "/terminals", "admin"],
  ["GET", "/terminals", "operate"],
  ["PATCH", `/terminals/${id}`, "admin"],
  ["DELETE", `/terminals/${id}`, "admin"],
  ["POST", `/terminals/${id}/devices`, "admin"],
  ["POST", "/shifts/open", "operate"],
  ["POST", `/shifts/${id}/close`, "operate"],
  ["GET", "/shifts/current", "operate"],
  ["GET", `/shifts/${id}`, "operate"],
  ["GET", `/shifts/${id}/report`, "admin"],
  ["POST", `/shifts/${id}/cash-events`, "operate"],
  ["GET", `/shifts/${id}/cash-events`, "operate"],
  ["POST", `/shifts/${id}/no-sale`, "operate"],
  ["POST", "/transactions", "operate"],
  ["GET", "/transactions", "operate"],
  ["GET", `/transactions/held?terminalId=${id}`, "operate"],
  ["GET", `/transactions/${id}`, "operate"],
  ["POST", `/transactions/${id}/items`, "operate"],
  ["PATCH", `/transactions/${id}/items/${id}`, "operate"],
  ["DELETE", `/transactions/${id}/items/${id}`, "operate"],
  ["POST", `/transactions/${id}/codes`, "operate"],
  ["DELETE", `/transactions/${id}/codes/X`, "operate"],
  ["POST", `/transactions/${id}/customer`, "operate"],
  ["POST", `/transactions/${id}/hold`, "operate"],
  ["POST", `/transactions/${id}/recall`, "operate"],
  ["POST", `/transactions/${id}/void`, "operate"],
  ["POST", `/transactions/${id}/split`, "operate"],
  ["POST", `/transactions/${id}/merge`, "operate"],
  ["POST", `/transactions/${id}/payments`, "operate"],
  ["GET", `/transactions/${id}/payments/${id}`, "operate"],
  ["DELETE", `/transactions/${id}/payments/${id}`, "operate"],
  ["POST", `/transactions/${id}/payments/${id}/retry`, "operate"],
  ["POST", `/transactions/${id}/payments/${id}/tip`, "operate"],
  ["POST", `/transactions/${id}/complete`, "operate"],
  ["GET", `/transactions/${id}/receipt`, "operate"],
  ["POST", `/transactions/${id}/receipt/email`, "operate"],
  ["POST", "/returns", "operate"],
  ["POST", "/exchanges", "operate"],
  ["POST", "/closings", "manage"],
  ["GET", "/closings", "manage"],
  ["GET", `/closings/${id}`, "manage"],
  ["GET", `/closings/${id}/verify`, "manage"],
  ["GET", "/lookup/barcode/123", "operate"],
  ["GET", "/lookup/sku/ABC", "operate"],
  ["GET", "/lookup/search?q=x", "operate"],
  ["GET", `/lookup/stock/${id}`, "operate"],
  ["PUT", "/auth/pin", "admin"],
  ["POST", "/auth/pin-login", "operate"],
  ["POST", "/auth/override", "operate"],
  ["POST", "/sync", "operate"]
] as const

const isGet = (method: string) => method === "GET" || method === "DELETE"

describe("the plugin for tills", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  it.each(routes)("%s %s is for who has its scope", async (method, path, scope) => {
    const ask = (as: typeof cashier | null) => shop.ask(method, `/pos${path}`, isGet(method) ? undefined : {}, as)
    assert.strictEqual(code(await ask(null)), "401 UNAUTHORIZED")
    const below = scope === "operate" ? [clerk] : scope === "manage" ? [clerk, cashier] : [clerk, cashier, manager]
    for (const who of [testNoPermActor, testCustomerActor, ...below]) {
      assert.strictEqual(code(await ask(who)), "403 FORBIDDEN", who.userId ?? "")
    }
    const whole = { ...cashier, permissions: ["pos:*"] }
    for (const who of [whole, testAdminActor]) assert.notInclude([401, 403], (await ask(who)).status)
  })

  it("names the scope that is missing", async () => {
    const refused = await shop.refused("403 FORBIDDEN", "POST", "/terminals", {}, cashier)
    assert.include(refused.text("error.message"), "pos:admin")
  })

  it("knows nothing of another organization, and no id that is none", async () => {
    const at = await shop.till()
    const { entityId, itemId, path } = await shop.sale(at)
    const paid = await shop.pay(path, 1)
    const paths: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ["PATCH", `/terminals/${at.terminalId}`, { name: "X" }],
      ["DELETE", `/terminals/${at.terminalId}`],
      ["POST", `/terminals/${at.terminalId}/devices`, { name: "X" }],
      ["POST", "/shifts/open", { terminalId: at.terminalId, openingFloat: 0 }],
      ["POST", `/shifts/${at.shiftId}/close`, { closingCount: 0 }],
      ["GET", `/shifts/${at.shiftId}`],
      ["GET", `/shifts/${at.shiftId}/report`],
      ["GET", `/shifts/${at.shiftId}/cash-events`],
      ["POST", `/shifts/${at.shiftId}/cash-events`, { type: "drop", amount: 1 }],
      ["POST", `/shifts/${at.shiftId}/no-sale`, { reason: "x" }],
      ["POST", "/transactions", { terminalId: at.terminalId, shiftId: at.shiftId }],
      ["GET", path],
      ["POST", `${path}/items`, { entityId }],
      ["PATCH", `${path}/items/${itemId}`, { quantity: 2 }],
      ["DELETE", `${path}/items/${itemId}`],
      ["POST", `${path}/codes`, { code: "X" }],
      ["DELETE", `${path}/codes/X`],
      ["POST", `${path}/customer`, { customerId: id }],
      ["POST", `${path}/hold`, { label: "x" }],
      ["POST", `${path}/recall`, {}],
      ["POST", `${path}/void`, { reason: "x" }],
      ["POST", `${path}/split`, { ways: 2 }],
      ["POST", `${path}/merge`, { from: id }],
      ["POST", `${path}/payments`, { method: "cash", amount: 1 }],
      ["GET", `${path}/payments/${paid.text("data.id")}`],
      ["POST", `${path}/payments/${paid.text("data.id")}/retry`],
      ["POST", `${path}/payments/${paid.text("data.id")}/tip`, { amount: 1 }],
      ["DELETE", `${path}/payments/${paid.text("data.id")}`],
      ["POST", `${path}/complete`],
      ["GET", `${path}/receipt`],
      ["POST", `${path}/receipt/email`, { email: "a@example.com" }],
      ["POST", "/closings", { terminalId: at.terminalId }]
    ]
    const wrong: Array<string> = []
    for (const [method, route, body] of paths) {
      const got = await shop.ask(method, `/pos${route}`, body, outsider)
      if (code(got) !== "404 NOT_FOUND") wrong.push(`${method} ${route}: ${JSON.stringify(got.body)}`)
    }
    assert.deepStrictEqual(wrong, [])
    for (const list of ["/terminals", "/transactions", "/shifts", "/closings"]) {
      assert.deepStrictEqual((await shop.done("GET", list, undefined, outsider)).at("data"), [])
    }
    await shop.refused("422 VALIDATION_FAILED", "GET", "/transactions/no-uuid")
    await shop.refused("404 NOT_FOUND", "GET", `/transactions/${id}`)
  })

  it("keeps the rules of every plugin", { timeout: 240_000 }, async () => {
    const wrong: Array<string> = []
    // §2.3 asks for the terminal there, which this check does not send; `TransactionLists` reads its pages.
    const checks = contractOf(shop.app, { bodies: 2 }).filter(({ name }) =>
      !name.includes("/transactions/held is read")
    )
    for (const { name, run } of checks) {
      await run().catch((error) => wrong.push(`${name}: ${error}`))
    }
    assert.deepStrictEqual(wrong, [])
  })
})
