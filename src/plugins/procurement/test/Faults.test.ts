import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Cutter, openCutter } from "../../../../test/support/OpenTap.ts"
import { openShop, type Shop } from "./ProcurementShop.ts"

describe("a process that ends between two statements", () => {
  let shop: Shop
  let cutter: Cutter
  beforeAll(async () => {
    cutter = await openCutter(/purchase_order|goods_received|supplier_return/)
    shop = await openShop({ fourEyes: false }, { postgres: cutter, jobs: { autorun: { enabled: false } } })
  })
  afterAll(async () => {
    await shop.close()
    await cutter.close()
  })

  const cutOff = (path: string, body: object, check: () => Promise<void>) =>
    cutter.cutOff(shop, [201, 422], () => shop.ask("POST", `/procurement${path}`, body), check)

  it("leaves order, receipt and stock agreed, and what is repeated is done once", async () => {
    const line = await shop.line()
    const { id } = await shop.draft([line])
    await shop.move(id, "submit")
    const read = async () => {
      const whole = await shop.order(id)
      const [onHand, incoming] = await shop.stock(line.entityId)
      const notes = await shop.done("GET", `/grn?poId=${id}`)
      const lots = await shop.ask("GET", `/warehouse/lots?entityId=${line.entityId}`)
      return {
        incoming,
        onHand,
        status: whole.at("data.po.status"),
        item: whole.text("data.items.0.id"),
        received: whole.at("data.items.0.quantityReceived"),
        grn: notes.at("data.0.id"),
        grnStatus: notes.at("data.0.status"),
        lots: lots.at("data.length")
      }
    }
    const approving = await cutOff(`/purchase-orders/${id}/approve`, {}, async () => {
      const { incoming, status } = await read()
      assert.strictEqual(incoming, status === "approved" ? 10 : 0, String(status))
    })
    const { item } = await read()
    const items = [{ poItemId: item, quantityReceived: 10, batchNumber: "B-1" }]
    const receiving = await cutOff("/grn", { poId: id, items }, async () => {
      const { grnStatus, received, status } = await read()
      assert.deepStrictEqual([status, received], grnStatus === "draft" ? ["received", 10] : ["approved", 0])
    })
    const accepting = await cutOff(`/grn/${(await read()).grn}/accept`, {}, async () => {
      const { grnStatus, incoming, lots, onHand } = await read()
      assert.deepStrictEqual([onHand, incoming, lots], grnStatus === "accepted" ? [10, 0, 1] : [0, 10, 0])
    })
    assert.deepInclude(await read(), { status: "received", grnStatus: "accepted", onHand: 10, incoming: 0, lots: 1 })
    const { grn } = await read()
    const body = {
      grnId: grn,
      items: [{
        grnItemId: (await shop.done("GET", `/grn/${grn}`)).text("data.items.0.id"),
        quantity: 4,
        reason: "wet"
      }]
    }
    const back = async () => {
      const { at, list } = await shop.done("GET", `/returns?grnId=${grn}&status=draft`)
      const item = (await shop.done("GET", `/grn/${grn}`)).at("data.items.0.quantityReturned")
      return { id: at("data.0.id"), drafts: list("data").length, item }
    }
    const returning = await cutOff("/returns", body, async () => {
      const { drafts, item } = await back()
      assert.strictEqual(item, drafts * 4)
    })
    const { id: returned } = await back()
    await shop.done("POST", `/returns/${returned}/approve`)
    const shipping = await cutOff(`/returns/${returned}/ship`, {}, async () => {
      const status = (await shop.done("GET", `/returns/${returned}`)).at("data.return.status")
      assert.strictEqual((await read()).onHand, status === "shipped" ? 6 : 10)
    })
    for (const times of [approving, receiving, accepting, returning, shipping]) assert.isAtLeast(times, 6)
  })
})
