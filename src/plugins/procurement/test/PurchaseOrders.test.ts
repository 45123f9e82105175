import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import {
  contractOf,
  inOrganization,
  machineOf,
  raceOf,
  testAdminActor,
  testStaffActor,
  withPermissions
} from "stoa/plugin/testing"
import { pdfTexts } from "../../../../test/invoices/PdfText.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { goodsReceipt } from "../GoodsReceipt.ts"
import { purchaseOrder } from "../PurchaseOrder.ts"
import { supplierBill } from "../SupplierBills.ts"
import { supplierReturn } from "../SupplierReturns.ts"
import { approver, openShop, type Shop } from "./ProcurementShop.ts"

describe("purchase orders", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ approvalLimit: { staff: 2_860 }, exchangeRates: { EUR: "1.1" } })
  })
  afterAll(() => shop.close())

  /** The texts of an order on paper. */
  const printed = async (id: string) => {
    const answer = await fetch(`${shop.app.url}/api/procurement/purchase-orders/${id}/order.pdf`, {
      headers: { "x-test-actor": JSON.stringify(testAdminActor) }
    })
    return pdfTexts(new Uint8Array(await answer.arrayBuffer())).map((text) => text.trim())
  }

  it("are drafted, changed, submitted, approved, sent by mail and cancelled, and show what is incoming", async () => {
    const supplierId = await shop.supplier({ name: "Mühle", contactEmail: "ann@mill.example", contactName: "Ann" })
    const line = await shop.line()
    const draft = await shop.draft([line], { supplierId, expectedDelivery: "2026-12-24", notes: "Back door" })
    assert.deepInclude(draft, { poNumber: "PO-0001", status: "draft", subtotal: 2_500, grandTotal: 2_500 })
    const { id } = draft
    const path = `/purchase-orders/${id}`
    const items = [line, { ...line, itemName: "Rye", quantityOrdered: 2, unitCost: 100, notes: "fine" }]
    const changed = await shop.done("PATCH", path, { items, notes: null })
    assert.deepInclude(changed.at("data"), { grandTotal: 2_700, notes: null, status: "draft" })
    await shop.move(id, "submit")
    await shop.refused("422 INVALID_TRANSITION", "PATCH", path, { items })
    assert.deepStrictEqual(await shop.stock(line.entityId), [0, 0, undefined])
    await shop.move(id, "approve")
    assert.deepStrictEqual(await shop.stock(line.entityId), [0, 12, null])
    await shop.move(id, "send")
    await waitFor("the mail", () => shop.mails.length > 0)
    assert.deepInclude(shop.mails[0], { template: "procurement/purchase-order", to: "ann@mill.example" })
    const whole = await shop.order(id)
    assert.match(whole.text("data.items.0.itemName"), /^Title of/)
    assert.deepInclude(whole.at("data.po"), { status: "sent", approvedBy: approver.userId })
    assert.includeMembers(await printed(id), ["PO-0001", "Mühle", "Rye", "fine", "$27.00", "2026-12-24"])
    await shop.move(id, "cancel")
    assert.deepStrictEqual(await shop.stock(line.entityId), [0, 0, null])
    const events = await shop.db.query(
      "select type from outbox_events where type like 'purchase\\_order.%' order by id"
    )
    const names = ["approved", "sent", "cancelled"].map((name) => `purchase_order.${name}`)
    assert.deepStrictEqual(events.map(({ type }) => type), names)
  })

  it("name the unit of each line in the mail and on paper", async () => {
    const [unitless, bought] = [await shop.line({ itemName: "Bolts" }), await shop.line({ itemName: "Nuts" })]
    const { box, piece } = await shop.boxed(bought.entityId, "12")
    const lines = [unitless, bought, { ...bought, uomId: piece, quantityOrdered: 7 }]
    const to = "units@mill.example"
    const { id } = await shop.approved(lines, { supplierId: await shop.supplier({ contactEmail: to }) })
    const code = async (unit: string) => (await shop.ask("GET", `/uom/units/${unit}`)).text("data.code")
    const [boxes, pieces] = [`10 ${await code(box)}`, `7 ${await code(piece)}`]
    assert.includeMembers(await printed(id), ["10", boxes, pieces])
    await shop.move(id, "send")
    const mail = await waitFor("the mail", () => shop.mails.find((one) => one.to === to))
    for (const text of ["10 × Bolts", `${boxes} Nuts`, `${pieces} Nuts`]) assert.include(mail?.text, text)

    // What was ordered without a unit is in the stock unit that the thing has got.
    const { piece: bolt } = await shop.boxed(unitless.entityId, "100")
    assert.include(await printed(id), `10 ${await code(bolt)}`)
  })

  it("and prices name units of the organization, which are not deleted while they do", async () => {
    const { entityId } = await shop.line()
    const { box, piece } = await shop.boxed(entityId, "12")
    const supplierId = await shop.supplier()
    const [priced, named] = [await shop.unit("roll"), await shop.unit("bag")]
    const { text } = await shop.done("POST", `/suppliers/${supplierId}/items`, { entityId, unitCost: 1, uomId: priced })
    await shop.db.query("insert into organizations (id, slug, name) values ('org_units', 'org_units', 'Units')")
    const [foreign] = await shop.db.query(
      `insert into units_of_measure (organization_id, code, name, category) values ('org_units', 'x', 'X', 'count')
        returning id`
    )
    for (const uomId of [randomUUID(), foreign?.["id"]]) {
      const items = [{ entityId, quantityOrdered: 1, unitCost: 1, uomId }]
      const [path, body] = [`/suppliers/${supplierId}/items`, { entityId, unitCost: 1, uomId }]
      await shop.refused("422 VALIDATION_FAILED", "POST", path, body)
      await shop.refused("422 VALIDATION_FAILED", "PATCH", `/supplier-items/${text("data.id")}`, { uomId })
      const order = { supplierId, warehouseId: await shop.place(), items }
      await shop.refused("422 VALIDATION_FAILED", "POST", "/purchase-orders", order)
    }
    await shop.ask("POST", "/uom/conversions", { fromUnitId: named, toUnitId: piece, factorDecimal: "5" })
    await shop.draft([{ entityId, quantityOrdered: 1, unitCost: 1, uomId: named }])
    const conversions = await shop.ask("GET", `/uom/conversions?fromUnitId=${named}`)
    assert.strictEqual((await shop.ask("DELETE", `/uom/conversions/${conversions.text("data.0.id")}`)).status, 200)
    for (const unit of [priced, named]) {
      assert.strictEqual((await shop.ask("DELETE", `/uom/units/${unit}`)).text("error.code"), "CONFLICT")
    }
    await shop.done("PATCH", `/supplier-items/${text("data.id")}`, { uomId: box })
    assert.strictEqual((await shop.ask("DELETE", `/uom/units/${priced}`)).status, 200)
  })

  it("are refused for what is unknown, and for suppliers that are not active", async () => {
    const [line, supplierId, warehouseId] = [await shop.line(), await shop.supplier(), await shop.place()]
    const inactive = await shop.supplier({ isActive: false })
    const abroad = await shop.supplier({ currency: "EUR" })
    const body = { supplierId, warehouseId, items: [line] }
    const cases: ReadonlyArray<readonly [string, object]> = [
      ["supplierId", { supplierId: randomUUID() }],
      ["warehouseId", { warehouseId: randomUUID() }],
      ["items.1.entityId", { items: [line, { ...line, entityId: randomUUID() }] }],
      ["items.0.variantId", { items: [{ ...line, variantId: randomUUID() }] }],
      ["items.0.uomId", { items: [{ ...line, uomId: randomUUID() }] }],
      ["items.0.unitCost", { items: [{ ...line, unitCost: undefined }] }],
      ["items.0.quantityOrdered", { items: [{ ...line, quantityOrdered: 0 }] }],
      ["items", { items: [] }],
      ["exchangeRate", { supplierId: abroad }],
      ["exchangeRate", { exchangeRate: "0.1" }]
    ]
    const refused = async (path: string, ...request: readonly [string, string, object]) => {
      const answer = await shop.refused("422 VALIDATION_FAILED", ...request)
      assert.strictEqual(answer.text("error.details.issues.0.path"), path, answer.text("error.message"))
    }
    for (const [path, more] of cases) await refused(path, "POST", "/purchase-orders", { ...body, ...more })
    await shop.refused("409 CONFLICT", "POST", "/purchase-orders", { ...body, supplierId: inactive })
    const own = await shop.draft([line])
    const foreign = await shop.draft([line], { supplierId: abroad, exchangeRate: "1.1" })
    await refused("exchangeRate", "PATCH", `/purchase-orders/${own.id}`, { exchangeRate: "0.1" })
    await shop.done("PUT", `/suppliers/${abroad}`, { name: "Abroad", code: "ABROAD", currency: "CHF" })
    await shop.refused("409 CONFLICT", "PATCH", `/purchase-orders/${foreign.id}`, { items: [line] })

    const [{ entityId }, unknown] = [line, randomUUID()]
    const [priced, rules] = [`/suppliers/${supplierId}/items`, "/reorder-rules"]
    const rule = { entityId, warehouseId, minQuantity: 1, targetQuantity: 2 }
    const goods: ReadonlyArray<readonly [string, string, object]> = [
      ["entityId", priced, { entityId: unknown, unitCost: 1 }],
      ["variantId", priced, { entityId, variantId: unknown, unitCost: 1 }],
      ["entityId", rules, { ...rule, entityId: unknown }],
      ["variantId", rules, { ...rule, variantId: unknown }],
      ["warehouseId", rules, { ...rule, warehouseId: unknown }]
    ]
    for (const [path, route, sent] of goods) await refused(path, "POST", route, sent)
    const { id } = Object((await shop.done("POST", rules, rule)).at("data"))
    await refused("warehouseId", "PATCH", `${rules}/${id}`, { warehouseId: unknown })
    await shop.refused("404 NOT_FOUND", "GET", `/purchase-orders/${randomUUID()}`)
  })

  it("are approved up to the limit of a role, and by others without one", async () => {
    const staff = withPermissions(["procurement:admin"], testStaffActor)
    const submitted = async (quantityOrdered: number, more = {}) => {
      const { id } = await shop.draft([await shop.line({ quantityOrdered, unitCost: 260 })], more)
      await shop.move(id, "submit")
      return `/purchase-orders/${id}/approve`
    }
    const supplierId = await shop.supplier({ currency: "EUR" })
    // 2,600 at 1.1 are 2,860 exactly, and a little more as floating point has it.
    for (const path of [await submitted(11), await submitted(10, { supplierId, exchangeRate: "1.1" })]) {
      await shop.done("POST", path, undefined, staff)
    }
    const above = [await submitted(12), await submitted(10, { supplierId, exchangeRate: "1.1000000001" })]
    for (const path of above) {
      await shop.refused("403 FORBIDDEN", "POST", path, undefined, staff)
      await shop.done("POST", path, undefined, approver)
    }
  })

  it("keep to the limit at any rate that the buyer writes, and need a known rate of their currency", async () => {
    const staff = withPermissions(["procurement:admin"], testStaffActor)
    const approval = async (currency: string, exchangeRate: string, unitCost: number) => {
      const supplierId = await shop.supplier({ currency })
      const { id } = await shop.draft([await shop.line({ unitCost })], { supplierId, exchangeRate })
      await shop.move(id, "submit")
      return `/purchase-orders/${id}/approve`
    }
    await shop.done("POST", await approval("EUR", "0.0000000001", 260), undefined, staff)
    const above = [
      await approval("EUR", "0.0000000001", 261),
      await approval("EUR", "2", 200),
      await approval("CHF", "0.0000000001", 1)
    ]
    for (const path of above) {
      await shop.refused("403 FORBIDDEN", "POST", path, undefined, staff)
      await shop.done("POST", path, undefined, approver)
    }
  })

  it("are not approved by who requested or last changed them", async () => {
    const changer = { ...testAdminActor, userId: "changer" }
    const { id } = await shop.draft([await shop.line()])
    const path = `/purchase-orders/${id}`
    await shop.done("PATCH", path, { notes: "more" }, approver)
    await shop.done("PATCH", path, { items: [await shop.line()] }, changer)
    await shop.move(id, "submit")
    for (const who of [testAdminActor, changer]) {
      const answer = await shop.refused("403 FORBIDDEN", "POST", `${path}/approve`, undefined, who)
      assert.match(answer.text("error.message"), /^Another person has to approve/)
    }
    assert.strictEqual((await shop.order(id)).at("data.po.status"), "pending_approval")
    await shop.done("POST", `${path}/approve`, undefined, approver)
  })

  it("take the best price for the quantity and the day, of the variant before that of the entity", async () => {
    const [entityId, supplierId] = [await shop.product(), await shop.supplier()]
    const options = await shop.ask("POST", `/catalog/entities/${entityId}/variants`, { options: {} })
    const variantId = options.text("data.id")
    const price = (body: object) => shop.done("POST", `/suppliers/${supplierId}/items`, { entityId, ...body })
    await price({ unitCost: 300 })
    await price({ unitCost: 250, minOrderQuantity: 10 })
    await price({ unitCost: 100, validTo: "2026-01-01" })
    await price({ unitCost: 100, validFrom: "2126-01-01" })
    await price({ unitCost: 400, variantId, validFrom: "2020-01-01", validTo: "2120-01-01" })
    const cost = async (quantityOrdered: number, more: object = {}) => {
      const { id } = await shop.draft([{ entityId, quantityOrdered, ...more }], { supplierId })
      return (await shop.order(id)).at("data.items.0.unitCost")
    }
    assert.deepStrictEqual([await cost(9), await cost(10), await cost(10, { variantId })], [300, 250, 400])
    const backwards = { entityId, unitCost: 1, validFrom: "2026-02-01", validTo: "2026-01-01" }
    await shop.refused("422 VALIDATION_FAILED", "POST", `/suppliers/${supplierId}/items`, backwards)
    const listed = await shop.done("GET", `/supplier-items?supplierId=${supplierId}&entityId=${entityId}&limit=2`)
    assert.strictEqual(listed.at("meta.pagination.total"), 5)
  })

  it("have one number each, and of eight submits, approves, sends and cancels one takes effect", async () => {
    const line = await shop.line()
    const supplierId = await shop.supplier({ contactEmail: "race@mill.example" })
    const more = { supplierId, warehouseId: await shop.place() }
    const drafts = await Promise.all(Array.from({ length: 8 }, () => shop.draft([line], more)))
    assert.lengthOf([...new Set(drafts.map((one) => one.poNumber))], 8)
    const path = `/api/procurement/purchase-orders/${drafts[0].id}`
    for (const name of ["submit", "approve", "send", "cancel"]) {
      await raceOf(shop, { method: "POST", path: `${path}/${name}`, as: approver })
      const incoming = name === "approve" || name === "send" ? 10 : 0
      assert.strictEqual((await shop.stock(line.entityId))[1], incoming, name)
    }
    await waitFor("the mail", () => shop.mails.some(({ to }) => to === "race@mill.example"))
    assert.lengthOf(shop.mails.filter(({ to }) => to === "race@mill.example"), 1)
  })

  it("have suppliers whose codes are unique, and who are replaced as a whole", async () => {
    const id = await shop.supplier({ code: "MILL", contactEmail: "ann@mill.example", paymentTermsDays: 14 })
    await shop.refused("409 CONFLICT", "POST", "/suppliers", { name: "Other", code: "MILL" })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/suppliers", { name: "Other", code: "M", currency: "XXX" })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/suppliers", { name: "Other", code: "M", contactEmail: "ann" })
    await shop.done("PUT", `/suppliers/${id}`, { name: "Mill", code: "MILL-2" })
    const { at } = await shop.done("GET", `/suppliers/${id}`)
    const bare = { code: "MILL-2", contactEmail: null, paymentTermsDays: 30, currency: "USD" }
    assert.deepInclude(at("data.supplier"), bare)
    assert.deepStrictEqual(at("data.items"), [])
    await shop.refused("404 NOT_FOUND", "PUT", `/suppliers/${randomUUID()}`, { name: "Mill", code: "M" })
    await shop.refused("404 NOT_FOUND", "POST", `/suppliers/${randomUUID()}/items`, { entityId: id, unitCost: 1 })
    const elsewhere = inOrganization("org_elsewhere", testAdminActor)
    await shop.refused("404 NOT_FOUND", "GET", `/suppliers/${id}`, undefined, elsewhere)
  })

  it("are counted and added up by supplier and status", async () => {
    const supplierId = await shop.supplier()
    const draft = await shop.draft([await shop.line()], { supplierId })
    await shop.draft([await shop.line()], { supplierId })
    await shop.move(draft.id, "submit")
    const { list } = await shop.ask("POST", "/analytics/query", {
      measures: ["PurchaseOrders.count", "PurchaseOrders.grandTotal"],
      dimensions: ["PurchaseOrders.supplierId", "PurchaseOrders.status"],
      filters: [{ member: "PurchaseOrders.supplierId", operator: "equals", values: [supplierId] }]
    })
    const rows = list("data.rows").map(Object).map((row) =>
      ["status", "count", "grandTotal"].map((name) => row[`PurchaseOrders.${name}`])
    )
    assert.sameDeepMembers(rows, [["draft", 1, 2_500], ["pending_approval", 1, 2_500]])
    const listed = await shop.done("GET", `/purchase-orders?supplierId=${supplierId}&status=draft&search=po-`)
    assert.deepStrictEqual([listed.at("meta.pagination.total"), listed.at("data.0.status")], [1, "draft"])
  })

  it("and goods receipts keep to the rules of every plugin and to their moves", async () => {
    const [entityId, warehouseId] = [await shop.product(), await shop.place()]
    const samples = {
      suppliers: { currency: "USD" },
      purchase_orders: { warehouseId, currency: "USD", subtotal: 10, grandTotal: 10 },
      // Nothing of it is incoming any more, so that a state that the checks write down moves no stock.
      purchase_order_items: {
        entityId,
        unitCost: 1,
        quantityOrdered: 10,
        quantityReceived: 5,
        totalCost: 10,
        stockQuantity: 10,
        stockArrived: 10
      },
      goods_received_notes: { warehouseId, status: "rejected" },
      grn_items: {
        entityId,
        unitCost: 1,
        quantityReceived: 2,
        quantityAccepted: 2,
        quantityReturned: 2,
        stockReceived: 2,
        stockAccepted: 2
      },
      supplier_returns: { warehouseId, expectedCredit: 1 },
      supplier_return_items: { entityId, batchNumber: null }
    }
    const path = "/api/procurement"
    const checks = [
      ...contractOf(shop, { samples, bodies: 8 }),
      ...machineOf(shop, purchaseOrder, { samples, path: `${path}/purchase-orders`, without: ["edit", "receive"] }),
      ...machineOf(shop, goodsReceipt, { samples, path: `${path}/grn`, without: ["acceptWithDiscrepancy"] }),
      ...machineOf(shop, supplierBill, { samples, path: `${path}/bills` }),
      ...machineOf(shop, supplierReturn, {
        samples,
        path: `${path}/returns`,
        without: ["dispute"],
        states: { discrepancy: { enteredBy: "clerk" } },
        bodies: { credit: { creditNumber: "C", creditAmount: 1, creditedOn: "2026-11-30" } }
      })
    ]
    for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
