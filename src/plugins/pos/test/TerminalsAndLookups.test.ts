import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { openTills, outsider, picked, type TillShop } from "./TillShop.ts"

/** contract-plugins §2.3 and 2.5, contract-tills-channels A.1 and A.10. */
describe("terminals", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const refuse = (expected: string, body: object, path = "/terminals", method = "POST") =>
    shop.refused(expected, method, path, body)

  it("are made with what they default to, changed, and put out of use", async () => {
    const made = await shop.done("POST", "/terminals", { name: "Front", code: "FRONT" })
    assert.strictEqual(made.status, 201)
    assert.deepInclude(made.at("data"), {
      name: "Front",
      code: "FRONT",
      type: "register",
      isActive: true,
      businessDayStart: "00:00",
      cashRounding: 0,
      tipMode: "off",
      printerId: null,
      metadata: {}
    })
    const path = `/terminals/${made.text("data.id")}`
    const changed = await shop.done("PATCH", path, {
      name: "Back",
      timeZone: "Europe/Zurich",
      cashRounding: 5,
      tipMode: "on_receipt",
      metadata: { floor: 2 }
    })
    assert.deepInclude(changed.at("data"), {
      name: "Back",
      code: "FRONT",
      timeZone: "Europe/Zurich",
      cashRounding: 5,
      tipMode: "on_receipt",
      metadata: { floor: 2 }
    })
    const gone = await shop.done("DELETE", path)
    assert.deepStrictEqual([gone.status, gone.at("data.isActive"), gone.at("data.id")], [
      200,
      false,
      made.at("data.id")
    ])
    await shop.refused("422 VALIDATION_FAILED", "POST", "/shifts/open", {
      terminalId: made.text("data.id"),
      openingFloat: 0
    })
    await shop.done("PATCH", path, { isActive: true })
    await shop.shift(made.text("data.id"))
  })

  it("have a code of their own in their organization", async () => {
    const { code } = await shop.terminal()
    await refuse("409 CONFLICT", { name: "Again", code })
    const other = await shop.terminal()
    await refuse("409 CONFLICT", { code }, `/terminals/${other.terminalId}`, "PATCH")
    assert.strictEqual((await shop.done("POST", "/terminals", { name: "X", code }, outsider)).status, 201)
    const send = () => shop.ask("POST", "/pos/terminals", { name: "X", code: "RACE" })
    const statuses = (await Promise.all(Array.from({ length: 4 }, send))).map(({ status }) => status)
    assert.deepStrictEqual(statuses.sort(), [201, 409, 409, 409])
  })

  it("are refused with what they cannot be", async () => {
    const wrongs = [
      {},
      { name: "" },
      { name: "x".repeat(101) },
      { code: "" },
      { code: "x".repeat(21) },
      { type: "phone" },
      { cashRounding: -1 },
      { tipMode: "always" },
      { warehouseId: randomUUID() },
      { address: { country: "CH" } }
    ]
    for (const wrong of wrongs) {
      const body = Object.keys(wrong).length === 0 ? {} : { name: "X", code: "WRONG", ...wrong }
      await refuse("422 VALIDATION_FAILED", body)
    }
    await refuse("404 NOT_FOUND", { name: "X" }, `/terminals/${randomUUID()}`, "PATCH")
    await refuse("404 NOT_FOUND", {}, `/terminals/${randomUUID()}`, "DELETE")
  })

  it("are listed by state and type, the latest first, in pages", async () => {
    const first = await shop.terminal({ type: "kiosk" })
    const last = await shop.terminal({ type: "kiosk" })
    await shop.done("DELETE", `/terminals/${first.terminalId}`)
    const ids = async (query: string) =>
      (await shop.read(`/terminals?type=kiosk${query}`)).list("data").map((one) => Reflect.get(Object(one), "id"))
    assert.deepStrictEqual(await ids(""), [last.terminalId, first.terminalId])
    assert.deepStrictEqual(await ids("&isActive=true"), [last.terminalId])
    assert.deepStrictEqual(await ids("&limit=1&page=2"), [first.terminalId])
    await shop.refused("422 VALIDATION_FAILED", "GET", "/terminals?type=phone")
  })
})

describe("lookups at a till", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const withVariant = async (sku: string, barcode: string) => {
    const entityId = await shop.product()
    await shop.core("POST", `/catalog/entities/${entityId}/options`, { name: "size", values: ["s"] })
    const made = await shop.core("POST", `/catalog/entities/${entityId}/variants`, {
      options: { size: "s" },
      sku,
      barcode
    })
    return { entityId, variantId: made.text("data.id") }
  }

  it("find variants by barcode and SKU, which are no ids", async () => {
    const { entityId, variantId } = await withVariant("SKU/1 a", "7612345678900")
    const entity = await shop.core("GET", `/catalog/entities/${entityId}`)
    for (const path of ["/lookup/barcode/7612345678900", "/lookup/sku/SKU%2F1%20a"]) {
      const got = await shop.read(path)
      assert.deepInclude(got.at("data"), {
        entityId,
        variantId,
        entityType: "product",
        slug: entity.at("data.slug"),
        barcode: "7612345678900",
        sku: "SKU/1 a"
      })
    }
    await shop.refused("404 NOT_FOUND", "GET", "/lookup/barcode/0000")
    await shop.refused("404 NOT_FOUND", "GET", "/lookup/sku/none")
    await shop.refused("404 NOT_FOUND", "GET", "/lookup/barcode/7612345678900", undefined, outsider)
  })

  it("answer all variants that have a code", async () => {
    const all = [await withVariant("SHARED", "4011111111111"), await withVariant("SHARED", "4011111111111")]
    for (const path of ["/lookup/sku/SHARED", "/lookup/barcode/4011111111111"]) {
      const got = await shop.read(path)
      const found = [
        got.at("data.variantId"),
        ...got.list("data.others").map((_, n) => got.at(`data.others.${n}.variantId`))
      ]
      assert.sameMembers(found, all.map(({ variantId }) => variantId))
    }
  })

  it("sell what they find", async () => {
    const { entityId, variantId } = await withVariant("SELL", "4012345678901")
    await shop.core("POST", "/pricing/prices", { entityId, variantId, currency: "USD", amount: 1_700 })
    const { path } = await shop.start(await shop.till())
    const found = await shop.read("/lookup/sku/SELL")
    const line = await shop.add(path, { entityId: found.at("data.entityId"), variantId: found.at("data.variantId") })
    assert.deepStrictEqual(picked(line, "variantId", "price"), [variantId, 1_700])
    await shop.refused("404 NOT_FOUND", "POST", `${path}/items`, { entityId, variantId: randomUUID() })
  })

  it("search titles, SKUs and barcodes, and give at most 20", async () => {
    const { entityId } = await withVariant("FINDME-1", "9999123499991")
    const entity = await shop.core("GET", `/catalog/entities/${entityId}?include=attributes`)
    const slug = entity.text("data.slug")
    for (const q of ["FINDME-1", "9999123499991", `Title of ${slug}`]) {
      const got = await shop.read(`/lookup/search?q=${encodeURIComponent(q)}`)
      const ids = got.list("data").map((one) => Reflect.get(Object(one), "entityId"))
      assert.include(ids, entityId, q)
      assert.isAtMost(ids.length, 20)
    }
    for (let count = 0; count < 21; count++) await shop.product({ stock: 0 })
    assert.strictEqual((await shop.read("/lookup/search?q=Title")).list("data").length, 20)
    for (const wrong of ["", "?q=", `?q=${"x".repeat(201)}`]) {
      await shop.refused("422 VALIDATION_FAILED", "GET", `/lookup/search${wrong}`)
    }
    assert.deepStrictEqual((await shop.read("/lookup/search?q=%25")).at("data"), [])
    assert.deepStrictEqual((await shop.done("GET", "/lookup/search?q=Title", undefined, outsider)).at("data"), [])
  })

  it("do not show what is not for sale", async () => {
    const { entityId } = await withVariant("GONE", "5012345678900")
    await shop.core("POST", `/catalog/entities/${entityId}/archive`)
    await shop.refused("404 NOT_FOUND", "GET", "/lookup/sku/GONE")
    await shop.refused("404 NOT_FOUND", "GET", "/lookup/barcode/5012345678900")
    assert.deepStrictEqual((await shop.read("/lookup/search?q=GONE")).at("data"), [])
  })

  it("show what is available by warehouse: on hand without what is promised", async () => {
    const entityId = await shop.product({ stock: 7 })
    const houses = await shop.core("POST", "/inventory/warehouses", { name: "Second", code: "SECOND" })
    const warehouseId = houses.text("data.id")
    await shop.core("POST", "/inventory/adjust", { entityId, warehouseId, type: "restock", quantity: 3 })
    await shop.core("POST", "/inventory/reserve", { entityId, warehouseId, quantity: 1, orderId: randomUUID() })
    const got = await shop.read(`/lookup/stock/${entityId}`)
    const rows = got.list("data").map((one) => [
      Reflect.get(Object(one), "warehouse"),
      Reflect.get(Object(one), "available")
    ])
    const available = rows.map(([, units]) => Number(units)).sort()
    assert.deepStrictEqual(available, [2, 7])
    const second = got.list("data").find((one) => Reflect.get(Object(one), "warehouseId") === warehouseId)
    assert.strictEqual(Reflect.get(Object(second), "available"), 2)
    await shop.refused("404 NOT_FOUND", "GET", `/lookup/stock/${randomUUID()}`)
  })
})
