import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cashier, code, colleague, manager, openTills, type TillShop } from "./TillShop.ts"

describe("an open sale of another operator", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills({}, { auth: { apiKeys: { enabled: true }, roles: { waiter: ["pos:operate"] } } })
    till = await shop.till({}, 0, cashier)
  })
  afterAll(() => shop.close())

  /** A sale of the cashier, and all that changes it. */
  const aSale = async () => {
    const [entityId, { path }] = [await shop.product(), await shop.start(till, {}, cashier)]
    const item = (await shop.add(path, { entityId, quantity: 3 }, cashier)).text("data.id")
    const parts = [{ items: [{ itemId: item, quantity: 1 }] }]
    const changes: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ["POST", `${path}/items`, { entityId }],
      ["PATCH", `${path}/items/${item}`, { quantity: 2 }],
      ["POST", `${path}/customer`, { customerId: await shop.customer() }],
      ["POST", `${path}/split`, { parts }],
      ["DELETE", `${path}/items/${item}`],
      ["POST", `${path}/hold`, { label: "x" }]
    ]
    return { changes, path }
  }

  it("is changed by who has pos:manage, or an override for each change", async () => {
    const { changes, path } = await aSale()
    const before = await shop.read(path)
    for (const [method, to, body] of changes) {
      const refused = await shop.ask(method, `/pos${to}`, body, colleague)
      assert.strictEqual(code(refused), "403 OVERRIDE_REQUIRED", `${method} ${to}`)
    }
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${path}/codes`, { code: "x" }, colleague)
    await shop.refused("403 OVERRIDE_REQUIRED", "DELETE", `${path}/codes/x`, undefined, colleague)
    assert.deepStrictEqual((await shop.read(path)).at("data"), before.at("data"))
    const [, , change] = changes
    assert.isDefined(change)
    const { token } = await shop.override("sale")
    const [first, second] = [
      await shop.withToken(token, ...change, colleague),
      await shop.withToken(token, ...change, colleague)
    ]
    assert.deepStrictEqual([first.status, code(second)], [201, "403 OVERRIDE_INVALID"])
    for (const [method, to, body] of changes) await shop.done(method, to, body, manager)
  })

  it("is merged by who may change both", async () => {
    const { path } = await aSale()
    const own = await shop.start(await shop.till({}, 0, colleague), {}, colleague)
    const merge = { from: path.slice("/transactions/".length) }
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${own.path}/merge`, merge, colleague)
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${path}/merge`, { from: own.id }, colleague)
    const { token } = await shop.override("sale")
    assert.strictEqual((await shop.withToken(token, "POST", `${own.path}/merge`, merge, colleague)).status, 201)
  })

  it("is changed by those who have logged in at its till", async () => {
    const waiter = await shop.member("waiter")
    await shop.done("PUT", "/auth/pin", { operatorId: waiter, pin: "7294" })
    const keyAt = async (terminalId: string) => {
      const device = await shop.done("POST", `/terminals/${terminalId}/devices`, { name: "iPad" })
      const login = { operatorId: waiter, pin: "7294" }
      const got = await shop.withKey(device.text("data.key"), "POST", "/pos/auth/pin-login", login)
      return got.text("data.apiKey")
    }
    const [here, elsewhere] = [await keyAt(till.terminalId), await keyAt((await shop.terminal()).terminalId)]
    const { changes } = await aSale()
    for (const [method, to, body] of changes) {
      assert.strictEqual(code(await shop.withKey(elsewhere, method, `/pos${to}`, body)), "403 OVERRIDE_REQUIRED", to)
      const changed = await shop.withKey(here, method, `/pos${to}`, body)
      assert.isBelow(changed.status, 300, `${method} ${to} ${JSON.stringify(changed.body)}`)
    }
  })
})
