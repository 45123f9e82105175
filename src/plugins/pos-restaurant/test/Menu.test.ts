import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { code, outsider } from "../../pos/test/TillShop.ts"
import { type MenuShop, openMenu } from "./MenuShop.ts"

const hour = 3_600_000

describe("the menu", () => {
  let shop: MenuShop
  beforeAll(async () => {
    shop = await openMenu()
  })
  afterAll(() => shop.close())

  const addAtTill = async (entityId: string, metadata: object = {}) => {
    const { path } = await shop.start(await shop.till())
    return shop.ask("POST", `/pos${path}/items`, { entityId, quantity: 1, metadata })
  }

  it("refuses what is not available wherever it is priced, until its time is over", async () => {
    const entityId = await shop.product()
    const cart = await shop.cart()
    await cart.add(entityId)
    const until = new Date(Date.now() + hour).toISOString()
    const entry = await shop.menu(entityId, { isAvailable: false, until, reason: "Oven" })
    assert.deepInclude(entry.at("data"), { isAvailable: false, remaining: null, reason: "Oven" })
    const refused = await cart.checkout()
    assert.strictEqual(code(refused), "422 CHECKOUT_FAILED")
    assert.match(refused.text("error.message"), /is not available\.$/)
    assert.strictEqual((await cart.add(entityId)).status, 422)
    assert.strictEqual((await addAtTill(entityId)).status, 422)
    await shop.menu(entityId, { isAvailable: false, until: new Date(Date.now() - 1).toISOString() })
    assert.isTrue((await shop.left(entityId)).isAvailable)
    assert.strictEqual((await addAtTill(entityId)).status, 201)
    assert.strictEqual((await cart.checkout()).status, 201)
  })

  it("counts what tills and carts sell, and is not available at none", async () => {
    const entityId = await shop.product()
    await shop.menu(entityId, { isAvailable: true, remaining: 5 })
    const { path } = await shop.start(await shop.till())
    await shop.add(path, { entityId, quantity: 2 })
    const six = await shop.ask("POST", `/pos${path}/items`, { entityId, quantity: 4 })
    assert.match(six.text("error.message"), /^Only 5 of “.*” are left\.$/)
    assert.deepStrictEqual(await shop.left(entityId), { isAvailable: true, remaining: 5 })
    await shop.settle(path)
    assert.deepStrictEqual(await shop.left(entityId), { isAvailable: true, remaining: 3 })
    assert.strictEqual((await shop.ordered(entityId, {}, 3)).status, 201)
    assert.deepStrictEqual(await shop.left(entityId), { isAvailable: false, remaining: 0 })
    assert.strictEqual((await addAtTill(entityId)).status, 422)
  })

  it("gets the units of a cancelled order back once, and none of a refunded one", async () => {
    const entityId = await shop.product()
    await shop.menu(entityId, { isAvailable: true, remaining: 3 })
    const order = await shop.ordered(entityId, {}, 2)
    assert.strictEqual((await shop.left(entityId)).remaining, 1)
    await shop.cancel(order.text("data.id"))
    assert.strictEqual((await shop.left(entityId)).remaining, 3)
    const eaten = await shop.ordered(entityId, {}, 3)
    await shop.tills.core("POST", `/orders/${eaten.text("data.id")}/refunds`, { reason: "cold" })
    assert.deepStrictEqual(await shop.left(entityId), { isAvailable: false, remaining: 0 })
  })

  it("takes nothing for a checkout that fails", async () => {
    const entityId = await shop.product()
    await shop.menu(entityId, { isAvailable: true, remaining: 1 })
    const cart = await shop.cart()
    await cart.add(entityId)
    assert.strictEqual((await cart.checkout({ paymentMethodToken: "test_decline" })).status, 422)
    assert.strictEqual((await shop.left(entityId)).remaining, 1)
    assert.strictEqual((await cart.checkout()).status, 201)
    assert.strictEqual((await shop.left(entityId)).remaining, 0)
  })

  it("counts orders by hand, but none from before it was counted", async () => {
    const entityId = await shop.product()
    const byHand = () => shop.tills.core("POST", "/orders", { currency: "USD", lineItems: [{ entityId, quantity: 1 }] })
    const early = await byHand()
    await shop.menu(entityId, { isAvailable: true, remaining: 2 })
    await shop.tills.core("PATCH", `/orders/${early.text("data.id")}/status`, { status: "confirmed" })
    assert.strictEqual((await shop.left(entityId)).remaining, 2)
    await byHand()
    assert.strictEqual((await shop.left(entityId)).remaining, 1)
  })

  it("counts the dishes of combos", async () => {
    const { dishes, entityId, items, pick } = await shop.combo()
    await shop.menu(dishes[0], { isAvailable: true, remaining: 2 })
    await shop.menu(dishes[1], { isAvailable: false })
    assert.strictEqual((await shop.ordered(entityId, pick(items[0]))).status, 201)
    const { path } = await shop.start(await shop.till())
    await shop.add(path, { entityId, quantity: 1, metadata: pick(items[0]) })
    await shop.settle(path)
    assert.deepStrictEqual(await shop.left(dishes[0]), { isAvailable: false, remaining: 0 })
    assert.strictEqual((await addAtTill(entityId, pick(items[0]))).status, 422)
    assert.strictEqual((await addAtTill(entityId, pick(items[1]))).status, 422)
  })

  it("lets guests pay for what the kitchen has, and for no more", async () => {
    const entityId = await shop.routed()
    const till = await shop.till()
    const [cooked, plain] = [await shop.start(till), await shop.start(till)]
    for (const { path } of [cooked, plain]) await shop.add(path, { entityId, quantity: 2 })
    await shop.fire(cooked.id)
    await shop.menu(entityId, { isAvailable: true, remaining: 1 })
    await shop.add(cooked.path, { entityId: await shop.product(), quantity: 1 })
    const more = await shop.ask("POST", `/pos${cooked.path}/items`, { entityId, quantity: 2 })
    assert.match(more.text("error.message"), /^Only 1 of /)
    assert.strictEqual((await shop.settle(cooked.path)).status, 201)
    assert.deepStrictEqual(await shop.left(entityId), { isAvailable: false, remaining: 0 })
    assert.strictEqual((await shop.settle(plain.path)).status, 422)
  })

  /** Sells one of three that are left to as many buyers at once. */
  const rush = async (atTills: number, online: number) => {
    const entityId = await shop.product({ stock: 30 })
    const till = await shop.till()
    const sales = await Promise.all(Array.from({ length: atTills }, async () => {
      const { path } = await shop.start(till)
      await shop.add(path, { entityId, quantity: 1 })
      await shop.pay(path, 1_000)
      return () => shop.ask("POST", `/pos${path}/complete`)
    }))
    const carts = await Promise.all(Array.from({ length: online }, async () => {
      const cart = await shop.cart()
      await cart.add(entityId)
      return () => cart.checkout()
    }))
    await shop.menu(entityId, { isAvailable: true, remaining: 3 })
    const answers = await Promise.all([...sales, ...carts].map((buy) => buy()))
    const refused = answers.filter(({ status }) => status === 422)
    assert.deepStrictEqual([refused.length, answers.filter(({ status }) => status === 201).length], [27, 3])
    for (const { body } of refused) assert.match(JSON.stringify(body), /is sold out\.|is not available\./)
    assert.deepStrictEqual(await shop.left(entityId), { isAvailable: false, remaining: 0 })
    const { onHand, reserved } = await shop.stock(entityId)
    const [orders] = await shop.query("select count(*)::int from order_lines where entity_id = $1", [entityId])
    assert.deepStrictEqual([onHand - reserved, orders], [27, { count: 3 }])
  }

  it("sells exactly what is left to 30 buyers at tills and online at once", () => rush(15, 15))

  it("sells exactly what is left to 30 buyers at tills at once", () => rush(30, 0))

  it("is known to a till without a connection", async () => {
    const { entityId, sizes } = await shop.dish()
    const combo = await shop.combo()
    await shop.menu(entityId, { isAvailable: false })
    const { terminalId } = await shop.till()
    const session = await shop.ask("GET", `/pos/session?terminalId=${terminalId}`)
    const has = (list: string, wanted: object) =>
      assert.isTrue(
        session.list(`data.restaurant.${list}`).some((one) =>
          Object.entries(wanted).every(([name, value]) => Reflect.get(Object(one), name) === value)
        ),
        list
      )
    has("modifierGroups", { id: sizes.id })
    has("modifierOptions", { groupId: sizes.id, priceAdjustment: 250 })
    has("combos", { id: combo.comboId })
    has("comboGroups", { id: combo.groupId })
    has("comboItems", { id: combo.items[1], priceAdjustment: 150 })
    has("menu", { entityId, isAvailable: false })
  })

  it("is of one organization", async () => {
    const entityId = await shop.product()
    await shop.refused("422 VALIDATION_FAILED", "PUT", `/menu/${entityId}`, { isAvailable: false }, outsider)
    await shop.menu(entityId, { isAvailable: false })
    assert.strictEqual((await shop.done("GET", `/menu?entityId=${entityId}`, undefined, outsider)).at("data.length"), 0)
  })
})
