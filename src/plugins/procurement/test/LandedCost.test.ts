import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { pdfTexts } from "../../../../test/invoices/PdfText.ts"
import { approver, openShop, type Shop } from "./ProcurementShop.ts"

describe("a purchase order", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ approvalLimit: { admin: 10_000 } })
  })
  afterAll(() => shop.close())

  const paper = async (id: string) => {
    const answer = await fetch(`${shop.app.url}/api/procurement/purchase-orders/${id}/order.pdf`, {
      headers: { "x-test-actor": JSON.stringify(approver) }
    })
    return pdfTexts(new Uint8Array(await answer.arrayBuffer())).map((text) => text.trim())
  }

  it("spreads freight and duty over the cost of its goods by their worth, also of parts, and no tax", async () => {
    const [dear, cheap] = [await shop.line({ unitCost: 300 }), await shop.line({ unitCost: 100 })]
    const more = { freight: 300, duty: 100, taxTotal: 760 }
    const { id, item } = await shop.approved([dear, cheap], more)
    const po = (await shop.order(id)).at("data.po")
    assert.deepInclude(Object(po), { ...more, subtotal: 4000, grandTotal: 4760 })
    const accept = async (items: ReadonlyArray<object>) =>
      shop.done("POST", `/grn/${(await shop.receive(id, items)).text("data.id")}/accept`)
    await accept([{ poItemId: item(0), quantityReceived: 4 }, { poItemId: item(1), quantityReceived: 10 }])
    assert.deepStrictEqual([(await shop.stock(dear.entityId))[2], (await shop.stock(cheap.entityId))[2]], [
      "330",
      "110"
    ])
    // At another cost the share of freight and duty stays.
    await accept([{ poItemId: item(0), quantityReceived: 6, unitCost: 310 }])
    assert.deepStrictEqual((await shop.stock(dear.entityId))[2], "336")
  })

  it("keeps its tax when its lines change, and counts freight and duty for approval limits", async () => {
    const { id } = await shop.draft([await shop.line()], { taxTotal: 100 })
    const items = [await shop.line({ quantityOrdered: 4, unitCost: 1000 })]
    const changed = await shop.done("PATCH", `/purchase-orders/${id}`, { items })
    assert.deepInclude(Object(changed.at("data")), { subtotal: 4000, taxTotal: 100, grandTotal: 4100 })
    const taxed = await shop.done("PATCH", `/purchase-orders/${id}`, { taxTotal: 0, freight: 5_000, duty: 1_001 })
    assert.deepInclude(Object(taxed.at("data")), { taxTotal: 0, grandTotal: 4000 })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/purchase-orders/${id}`, { taxTotal: -1 })
    await shop.move(id, "submit")
    await shop.refused("403 FORBIDDEN", "POST", `/purchase-orders/${id}/approve`, undefined, approver)
  })

  it("has the supplier's numbers on its paper, and that of the order in any state", async () => {
    const supplierId = await shop.supplier({ contactEmail: "mill@example.com" })
    const line = await shop.line({ unitCost: undefined })
    const price = { entityId: line.entityId, unitCost: 200, supplierSku: "MILL-7" }
    await shop.done("POST", `/suppliers/${supplierId}/items`, price)
    const own = await shop.line({ supplierSku: "OWN-1" })
    const { id } = await shop.draft([line, own], { supplierId })
    await shop.move(id, "submit", "approve", "send")
    const items = (await shop.order(id)).list("data.items").map(Object)
    assert.deepStrictEqual(items.map(({ supplierSku }) => supplierSku), ["MILL-7", "OWN-1"])
    await shop.done("PATCH", `/purchase-orders/${id}`, { supplierReference: "AB-99" })
    await shop.refused("422 INVALID_TRANSITION", "PATCH", `/purchase-orders/${id}`, {
      supplierReference: "x",
      notes: "y"
    })
    const printed = (await paper(id)).join(" ")
    for (const text of ["MILL-7", "OWN-1", "AB-99"]) assert.include(printed, text)
  })
})
