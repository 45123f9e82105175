import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { code, outsider } from "../../pos/test/TillShop.ts"
import { type MenuShop, openMenu } from "./MenuShop.ts"

describe("modifiers and combos", () => {
  let shop: MenuShop
  beforeAll(async () => {
    shop = await openMenu()
  })
  afterAll(() => shop.close())

  it("cost the same in a cart, a quote, a checkout, an order and at a till", async () => {
    const { entityId, large, size } = await shop.dish()
    const cart = await shop.cart()
    const added = await cart.add(entityId, size(large), 2)
    assert.deepStrictEqual([added.status, added.at("data.unitPriceSnapshot")], [201, 1_250], JSON.stringify(added.body))
    assert.strictEqual((await cart.quote()).at("data.totals.subtotal"), 2_500)
    const order = await cart.checkout()
    assert.deepStrictEqual(
      [order.at("data.grandTotal"), order.at("data.lineItems.0.unitPrice")],
      [2_500, 1_250],
      JSON.stringify(order.body)
    )
    assert.deepInclude(order.list("data.lineItems.0.priceSteps").at(-1), { label: "Large", amountPerUnit: 250 })
    const till = await shop.till()
    const sale = await shop.start(till)
    const line = await shop.add(sale.path, { entityId, quantity: 2, metadata: size(large) })
    assert.deepStrictEqual([line.at("data.price"), (await shop.read(sale.path)).at("data.total")], [1_250, 2_500])
    assert.strictEqual((await shop.settle(sale.path)).at("data.transaction.total"), 2_500)
  })

  it("are refused with a sentence where a line names others than its entity has", async () => {
    const { entityId, large, size, sizes, small } = await shop.dish()
    const toppings = await shop.groupOf({ entityId, name: "Toppings", minSelect: 0, maxSelect: 2 })
    const [egg, bacon, corn] = [
      await toppings.option("Egg"),
      await toppings.option("Bacon"),
      await toppings.option("Corn")
    ]
    const gone = await toppings.option("Truffle", 900, { isAvailable: false })
    const top = (...optionIds: ReadonlyArray<string>) => ({
      modifiers: [...size(small).modifiers, { groupId: toppings.id, optionIds }]
    })
    const cart = await shop.cart()
    const refusals: ReadonlyArray<readonly [object, RegExp]> = [
      [{}, /Choose at least 1 of “Size”/],
      [size(), /Choose at least 1 of “Size”/],
      [size(small, large), /Choose at most 1 of “Size”/],
      [top(egg, bacon, corn), /Choose at most 2 of “Toppings”/],
      [top(egg, egg), /Choose each of “Toppings” once/],
      [top(gone), /“Truffle” is not available/],
      [top(small), /does not offer/],
      [{ modifiers: [...size(small).modifiers, ...size(large).modifiers] }, /must name each group once/],
      [
        { modifiers: [...size(small).modifiers, { groupId: randomUUID(), optionIds: [] }] },
        /a group that .* does not have/
      ],
      [{ modifiers: "large" }, /must be \[\{ groupId, optionIds \}\]\.$/],
      [{ ...size(small), combo: [{ groupId: sizes.id, itemId: small }] }, /metadata.combo names a group/]
    ]
    for (const [metadata, sentence] of refusals) {
      const refused = await cart.add(entityId, metadata)
      assert.strictEqual(refused.status, 422, JSON.stringify(metadata))
      assert.match(refused.text("error.message"), sentence)
    }
    assert.strictEqual((await cart.add(entityId, top(egg, bacon))).status, 201)
    const till = await shop.till()
    const sale = await shop.start(till)
    assert.strictEqual(
      code(await shop.ask("POST", `/pos${sale.path}/items`, { entityId, quantity: 1 })),
      "422 CHECKOUT_FAILED"
    )
  })

  it("refuse a checkout when one has become unavailable since it was chosen", async () => {
    const { entityId, large, size } = await shop.dish()
    const cart = await shop.cart()
    await cart.add(entityId, size(large))
    await shop.done("PATCH", `/modifier-options/${large}`, { isAvailable: false })
    const refused = await cart.checkout()
    assert.strictEqual(code(refused), "422 CHECKOUT_FAILED")
    assert.match(refused.text("error.message"), /^“Large” is not available/)
    await shop.done("PATCH", `/modifier-options/${large}`, { isAvailable: true })
    assert.strictEqual((await cart.checkout()).at("data.grandTotal"), 1_250)
  })

  it("of which one has another price now are seen at a till before money is taken", async () => {
    const { entityId, large, size } = await shop.dish()
    const sale = await shop.start(await shop.till())
    await shop.add(sale.path, { entityId, quantity: 1, metadata: size(large) })
    await shop.pay(sale.path, 1_250)
    await shop.done("PATCH", `/modifier-options/${large}`, { priceAdjustment: 300 })
    const refused = await shop.ask("POST", `/pos${sale.path}/complete`)
    assert.strictEqual(code(refused), "409 PRICE_CHANGED")
    assert.strictEqual((await shop.settle(sale.path)).at("data.transaction.total"), 1_300)
  })

  it("of an item group count, and a unit never costs less than nothing", async () => {
    const entityId = await shop.product({ price: 300 })
    await shop.tills.core("PATCH", `/catalog/entities/${entityId}`, { metadata: { itemGroup: "drinks" } })
    const ice = await shop.groupOf({ itemGroup: "drinks", name: "Ice", maxSelect: 3 })
    const [none, own, lemon] = [
      await ice.option("None", -50),
      await ice.option("Own cup", -400),
      await ice.option("Lemon", 20)
    ]
    const cart = await shop.cart()
    const priced = async (...optionIds: ReadonlyArray<string>) =>
      (await cart.add(entityId, { modifiers: [{ groupId: ice.id, optionIds }] })).at("data.unitPriceSnapshot")
    assert.deepStrictEqual([await priced(none), await priced(own), await priced(own, lemon)], [250, 0, 0])
    assert.deepStrictEqual([await priced(lemon, none), await priced()], [270, 300])
    await shop.refused("409 CONFLICT", "POST", "/modifier-groups", { itemGroup: "drinks", name: "Ice" })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/modifier-groups", { name: "X", minSelect: 2, maxSelect: 1 })
  })

  it("have combos that cost what was chosen and need their choices", async () => {
    const { entityId, items, pick } = await shop.combo({ price: 1_800 })
    const cart = await shop.cart()
    const priced = async (...of: ReadonlyArray<string>) =>
      (await cart.add(entityId, pick(...of))).at("data.unitPriceSnapshot")
    assert.deepStrictEqual([await priced(items[0]), await priced(items[1])], [1_800, 1_950])
    assert.match((await cart.add(entityId)).text("error.message"), /Choose at least 1 of “Main”/)
    assert.match((await cart.add(entityId, pick(items[0], items[1]))).text("error.message"), /Choose at most 1/)
    const { comboId, ...plain } = await shop.combo()
    const asIs = await cart.add(plain.entityId, plain.pick(plain.items[1]))
    assert.strictEqual(asIs.at("data.unitPriceSnapshot"), 2_150)
    await shop.done("PATCH", `/combos/${comboId}`, { isActive: false })
    assert.match(
      (await cart.add(plain.entityId, plain.pick(plain.items[0]))).text("error.message"),
      /metadata.combo names/
    )
  })

  it("are of one organization, listed by entity and deleted with their options", async () => {
    const { entityId, sizes, small } = await shop.dish()
    const groups = await shop.done("GET", `/modifier-groups?entityId=${entityId}`)
    assert.deepStrictEqual([groups.at("data.length"), groups.at("data.0.id")], [1, sizes.id])
    const whole = await shop.done("GET", `/modifier-groups/${sizes.id}`)
    assert.deepStrictEqual([whole.at("data.group.name"), whole.at("data.options.length")], ["Size", 2])
    await shop.refused("404 NOT_FOUND", "PATCH", `/modifier-options/${small}`, { priceAdjustment: 1 }, outsider)
    await shop.refused("404 NOT_FOUND", "DELETE", `/modifier-groups/${sizes.id}`, undefined, outsider)
    assert.isTrue((await shop.done("DELETE", `/modifier-groups/${sizes.id}`)).at("data.deleted"))
    await shop.refused("404 NOT_FOUND", "DELETE", `/modifier-options/${small}`)
    const cart = await shop.cart()
    assert.strictEqual((await cart.add(entityId)).at("data.unitPriceSnapshot"), 1_000)
  })
})
