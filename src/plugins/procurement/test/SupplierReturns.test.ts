import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { raceOf, testAdminActor } from "stoa/plugin/testing"
import { approver, openShop, type Shop } from "./ProcurementShop.ts"

describe("a return to a supplier", () => {
  let shop: Shop
  let made = 0
  beforeAll(async () => {
    shop = await openShop({ costTolerancePercent: 5 })
  })
  afterAll(() => shop.close())

  const note = (creditAmount: number) => ({ creditNumber: `C-${++made}`, creditAmount, creditedOn: "2026-11-30" })

  /** Ten of a thing at 2.50 that came as the batch B-1 and of which nine were accepted, with tax of a tenth. */
  const delivered = async (more: object = {}) => {
    const line = await shop.line(more)
    const { id, item } = await shop.approved([line], { taxTotal: 250 })
    const came = { poItemId: item(0), quantityReceived: 10, quantityRejected: 1, batchNumber: "B-1" }
    const grnId = (await shop.receive(id, [came])).text("data.id")
    await shop.done("POST", `/grn/${grnId}/accept`)
    const grnItemId = (await shop.done("GET", `/grn/${grnId}`)).text("data.items.0.id")
    const body = (quantity: number, more: object = {}, head: object = {}) => ({
      grnId,
      items: [{ grnItemId, quantity, reason: "mouldy", ...more }],
      ...head
    })
    const draft = (...given: Parameters<typeof body>) => shop.done("POST", "/returns", body(...given))
    const returned = async () => (await shop.done("GET", `/grn/${grnId}`)).at("data.items.0.quantityReturned")
    const bill = async (quantity: number) => {
      const items = [{ poItemId: item(0), quantity, unitCost: 250 }]
      const head = { poId: id, billNumber: `B-${++made}`, billedOn: "2026-11-30" }
      return (await shop.done("POST", "/bills", { ...head, items })).at("data.status")
    }
    return { ...line, poId: id, grnId, grnItemId, body, draft, returned, bill }
  }
  const approved = async (draft: { readonly text: (path: string) => string }) => {
    const path = `/returns/${draft.text("data.id")}`
    await shop.done("POST", `${path}/approve`, undefined, approver)
    return path
  }
  const shipped = async (draft: { readonly text: (path: string) => string }) => {
    const path = await approved(draft)
    await shop.done("POST", `${path}/ship`)
    return path
  }
  const lotsOf = async (entityId: string) =>
    (await shop.ask("GET", `/warehouse/lots?entityId=${entityId}`)).list("data").map(Object)
      .map(({ batchNumber, quantity }) => [batchNumber, quantity])

  it("takes goods and their lot out of stock, and is credited at their cost with its share of tax", async () => {
    const { draft, entityId, grnId, grnItemId, poId } = await delivered()
    const drafted = await draft(3)
    assert.deepInclude(drafted.at("data"), {
      returnNumber: "RTS-0001",
      status: "draft",
      grnId,
      poId,
      expectedCredit: 825
    })
    const path = await approved(drafted)
    assert.deepStrictEqual([await shop.stock(entityId), await lotsOf(entityId)], [[9, 0, "250"], [["B-1", 9]]])
    await raceOf(shop, { method: "POST", path: `/api/procurement${path}/ship` })
    assert.deepStrictEqual([await shop.stock(entityId), await lotsOf(entityId)], [[6, 0, "250"], [["B-1", 6]]])
    await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/cancel`)
    assert.strictEqual((await shop.done("POST", `${path}/credit`, note(825))).at("data.status"), "credited")
    await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/credit`, note(825))
    const { at } = await shop.done("GET", path)
    const line = { grnItemId, entityId, quantity: 3, stockQuantity: 3, reason: "mouldy", batchNumber: "B-1" }
    assert.deepInclude(at("data.items.0"), line)
    assert.deepInclude(at("data.return"), {
      requestedBy: testAdminActor.userId,
      approvedBy: "approver",
      creditAmount: 825
    })
    const { list } = await shop.done("GET", `/returns?grnId=${grnId}&status=credited&search=mouldy`)
    assert.lengthOf(list("data"), 0)
    const found = await shop.done("GET", `/returns?poId=${poId}&status=credited&search=rts-`)
    assert.strictEqual(found.at("meta.pagination.total"), 1)
    const events = await shop.db.query(
      "select type from outbox_events where type like 'supplier\\_return.%' and payload ->> 'id' = $1 order by id",
      [drafted.text("data.id")]
    )
    const names = ["approved", "shipped", "credited"].map((name) => `supplier_return.${name}`)
    assert.deepStrictEqual(events.map(({ type }) => type), names)
  })

  it("names no more than was accepted and not returned, also of eight at once, until one is cancelled", async () => {
    const { body, draft, grnItemId, returned } = await delivered()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => shop.ask("POST", "/procurement/returns", body(4)))
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 201, ...Array(6).fill(422)])
    const refused = await shop.refused("422 VALIDATION_FAILED", "POST", "/returns", body(2))
    const message = "items.0.quantity must be at most 1, which were accepted and not returned."
    assert.deepStrictEqual([refused.at("error.details.issues.0.message"), await returned()], [message, 8])
    const first = answers.find(({ status }) => status === 201)
    await raceOf(shop, { method: "POST", path: `/api/procurement/returns/${first?.text("data.id")}/cancel` })
    assert.strictEqual(await returned(), 4)
    await draft(5)
    const more = "update grn_items set quantity_returned = quantity_returned + 1 where id = $1"
    assert.strictEqual(await shop.db.query(more, [grnItemId]).then(() => "done", () => "refused"), "refused")
  })

  it("names lines of an accepted receipt, each once, in whole stock units", async () => {
    const { body, grnItemId } = await delivered()
    const [item] = body(1).items
    const cases: ReadonlyArray<readonly [string, object]> = [
      ["items.0.grnItemId", body(1, { grnItemId: randomUUID() })],
      ["items.1.grnItemId", { ...body(1), items: [item, item] }],
      ["items.0.reason", body(1, { reason: undefined })],
      ["items.0.quantity", body(0)],
      ["items", { ...body(1), items: [] }]
    ]
    const refused = async (path: string, sent: object) => {
      const answer = await shop.refused("422 VALIDATION_FAILED", "POST", "/returns", sent)
      assert.strictEqual(answer.text("error.details.issues.0.path"), path)
    }
    for (const [path, sent] of cases) await refused(path, sent)
    await shop.refused("404 NOT_FOUND", "POST", "/returns", { ...body(1), grnId: randomUUID() })
    const line = await shop.line()
    await shop.boxed(line.entityId, "1.5")
    const { id, item: ordered } = await shop.approved([line])
    const grnId = (await shop.receive(id, [{ poItemId: ordered(0), quantityReceived: 4 }])).text("data.id")
    const ofBoxes = (await shop.done("GET", `/grn/${grnId}`)).text("data.items.0.id")
    const sent = (quantity: number) => ({ grnId, items: [{ grnItemId: ofBoxes, quantity, reason: "wet" }] })
    await shop.refused("409 CONFLICT", "POST", "/returns", sent(2))
    await shop.done("POST", `/grn/${grnId}/accept`)
    await refused("items.0.quantity", sent(1))
    await refused("items.0.grnItemId", { ...sent(2), items: [{ grnItemId, quantity: 2, reason: "wet" }] })
    await shipped(await shop.done("POST", "/returns", sent(2)))
    assert.deepStrictEqual((await shop.stock(line.entityId))[0], 3)
  })

  it("takes the receipt's batch also when it is blocked, another one when it says so, and no more than there is", async () => {
    const { draft, entityId } = await delivered()
    const blocked = (await shop.ask("GET", `/warehouse/lots?entityId=${entityId}`)).text("data.0.id")
    await shop.ask("POST", `/warehouse/lots/${blocked}/block`, { reason: "recall" })
    await shipped(await draft(4))
    assert.deepStrictEqual(await lotsOf(entityId), [["B-1", 5]])
    await shop.ask("POST", `/warehouse/lots/${blocked}/unblock`, { reason: "checked" })
    const wrong = await approved(await draft(1, { batchNumber: "B-2" }))
    await shop.refused("422 VALIDATION_FAILED", "POST", `${wrong}/ship`)
    assert.strictEqual((await shop.done("GET", wrong)).at("data.return.status"), "approved")
    await shop.ask("POST", `/warehouse/lots/${blocked}/correct`, { reason: "label", batchNumber: "B-3" })
    const named = await approved(await draft(1))
    await shop.refused("422 VALIDATION_FAILED", "POST", `${named}/ship`)
    await shipped(await draft(1, { batchNumber: null }))
    assert.deepStrictEqual([await lotsOf(entityId), await shop.stock(entityId)], [[["B-3", 4]], [4, 0, "250"]])
  })

  it("is approved by another person than the one who drafted it, and so is a credit that differs", async () => {
    const { draft } = await delivered()
    const drafted = await draft(4)
    await shop.refused("403 FORBIDDEN", "POST", `/returns/${drafted.text("data.id")}/approve`)
    const path = await shipped(drafted)
    const enter = async (creditAmount: number) =>
      (await shop.done("POST", `${path}/credit`, note(creditAmount))).at("data.status")
    // 1,100 are expected, within five in a hundred.
    assert.deepStrictEqual([await enter(1_044), await enter(1_156)], ["discrepancy", "discrepancy"])
    await shop.refused("403 FORBIDDEN", "POST", `${path}/accept-credit`)
    const accepted = await shop.done("POST", `${path}/accept-credit`, undefined, approver)
    assert.deepInclude(accepted.at("data"), { status: "credited", creditAmount: 1_156, decidedBy: "approver" })
    for (const amount of [1_045, 1_155]) {
      const other = await shipped(await (await delivered()).draft(4))
      await shop.done("POST", `${other}/credit`, note(5))
      assert.strictEqual((await shop.done("POST", `${other}/credit`, note(amount))).at("data.status"), "credited")
    }
  })

  it("is credited under a number that its supplier uses once, of eight at the same time", async () => {
    const { draft } = await delivered()
    const paths = [await shipped(await draft(1)), await shipped(await draft(1))]
    const credit = { ...note(275), creditNumber: "SAME" }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => shop.ask("POST", `/procurement${paths[n % 2]}/credit`, credit))
    )
    assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
    assert.include(answers.map(({ status }) => status), 409)
  })

  it("without a credit leaves less to be billed, with one it does not, and goods that are billed need one", async () => {
    const credited = await delivered()
    await shipped(await credited.draft(4))
    assert.strictEqual(await credited.bill(9), "matched")
    await shop.refused("409 CONFLICT", "POST", "/returns", credited.body(1, {}, { expectsCredit: false }))
    assert.strictEqual(await credited.returned(), 4)
    const free = await delivered()
    const path = await shipped(await free.draft(4, {}, { expectsCredit: false }))
    assert.strictEqual((await shop.done("GET", path)).at("data.return.expectedCredit"), 0)
    assert.deepStrictEqual([await free.bill(5), await free.bill(1)], ["matched", "discrepancy"])
    const cancelled = await delivered()
    const draft = await cancelled.draft(9, {}, { expectsCredit: false })
    await shop.done("POST", `/returns/${draft.text("data.id")}/cancel`)
    assert.strictEqual(await cancelled.bill(9), "matched")
  })

  it("without a credit and a bill of the same goods are not both right, whichever comes first", async () => {
    const { bill, body } = await delivered()
    const returns = Array.from(
      { length: 4 },
      () => shop.ask("POST", "/procurement/returns", body(2, {}, { expectsCredit: false }))
    )
    const bills = Array.from({ length: 4 }, () => bill(3))
    const back = (await Promise.all(returns)).filter(({ status }) => status === 201).length * 2
    const billed = (await Promise.all(bills)).filter((status) => status === "matched").length * 3
    assert.isAtMost(back + billed, 9)
    assert.isAtLeast(back + billed, 7)
  })
})
