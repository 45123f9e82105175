import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { raceOf } from "stoa/plugin/testing"
import { inHeldTransaction } from "../../../../test/support/HeldTransaction.ts"
import { type OpenTap, openTap } from "../../../../test/support/OpenTap.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { orderItems } from "../PurchaseOrder.ts"
import { openShop, type Shop } from "./ProcurementShop.ts"

/** Statements about data: what begins and ends transactions is left out. */
const counted = (tap: OpenTap) =>
  tap.take().map(({ text }) => text.slice(0, 60))
    .filter((text) =>
      !text.startsWith("analyze") && /purchase_order|goods_received|grn_|warehouse_lots|stock_/.test(text)
    )

describe("goods receipts", () => {
  let shop: Shop
  let tap: OpenTap
  beforeAll(async () => {
    tap = await openTap()
    shop = await openShop({ overReceiptPercent: 10 }, { postgres: tap, jobs: { autorun: { enabled: false } } })
  })
  afterAll(async () => {
    await shop.close()
    await tap.close()
  })

  const decide = (grn: { readonly text: (path: string) => string }, name: string) =>
    shop.done("POST", `/grn/${grn.text("data.id")}/${name}`)
  const statusOf = async (id: string) => (await shop.order(id)).at("data.po.status")

  it("raise stock with its cost and lower what is incoming, in parts, with a discrepancy", async () => {
    const line = await shop.line()
    const { id, item } = await shop.approved([line])
    const first = await shop.receive(id, [{ poItemId: item(0), quantityReceived: 4 }])
    assert.deepInclude(first.at("data"), { grnNumber: "GRN-0001", status: "draft" })
    assert.deepStrictEqual([await statusOf(id), await shop.stock(line.entityId)], ["partially_received", [0, 10, null]])
    const listed = await shop.done("GET", "/back-orders")
    assert.deepInclude(listed.at("data.0.items.0"), { quantityOrdered: 10, quantityReceived: 4 })
    await decide(first, "inspect")
    assert.strictEqual((await decide(first, "accept")).at("data.status"), "accepted")
    assert.deepStrictEqual(await shop.stock(line.entityId), [4, 6, "250"])
    const rest = { poItemId: item(0), quantityReceived: 7, quantityRejected: 1, rejectionReason: "wet", unitCost: 310 }
    const second = await shop.receive(id, [rest])
    assert.strictEqual(await statusOf(id), "received")
    assert.strictEqual((await decide(second, "accept")).at("data.status"), "accepted_with_discrepancy")
    assert.deepStrictEqual(await shop.stock(line.entityId), [10, 0, "286"])
    const whole = await shop.done("GET", `/grn/${second.text("data.id")}`)
    assert.deepInclude(whole.at("data.items.0"), { quantityAccepted: 6, rejectionReason: "wet", unitCost: 310 })
    await shop.refused("422 INVALID_TRANSITION", "POST", `/purchase-orders/${id}/cancel`)
    const found = await shop.done("GET", `/grn?poId=${id}&status=accepted`)
    assert.strictEqual(found.at("meta.pagination.total"), 1)
  })

  it("at another cost than the approved one are a discrepancy, beyond the tolerance up and down", async () => {
    const accepted = async (unitCost: number, ordered = 100) => {
      const { id, item } = await shop.approved([await shop.line({ unitCost: ordered }), await shop.line()])
      const items = [{ poItemId: item(0), quantityReceived: 10, unitCost }, { poItemId: item(1), quantityReceived: 10 }]
      return (await decide(await shop.receive(id, items), "accept")).at("data.status")
    }
    for (const cost of [95, 100, 105]) assert.strictEqual(await accepted(cost), "accepted", String(cost))
    for (const cost of [0, 94, 106, 10_000]) {
      assert.strictEqual(await accepted(cost), "accepted_with_discrepancy", String(cost))
    }
    assert.strictEqual(await accepted(1, 0), "accepted_with_discrepancy")
    assert.strictEqual(await accepted(1_000_000_000, 1_000_000_000), "accepted")
  })

  it("move no stock of goods that are not counted", async () => {
    const [hours, flour] = [await shop.line(), await shop.line()]
    const path = `/catalog/entities/${hours.entityId}`
    assert.strictEqual((await shop.ask("PATCH", path, { manageInventory: false })).status, 200)
    const { id, item } = await shop.approved([hours, flour])
    const came = [{ poItemId: item(0), quantityReceived: 10 }, { poItemId: item(1), quantityReceived: 10 }]
    assert.strictEqual((await decide(await shop.receive(id, came), "accept")).at("data.status"), "accepted")
    assert.deepStrictEqual(await shop.stock(hours.entityId), [0, 0, undefined])
    assert.deepStrictEqual(await shop.stock(flour.entityId), [10, 0, "250"])
  })

  it("are rejected as if nothing had come", async () => {
    const { id, item } = await shop.approved([await shop.line(), await shop.line()])
    const both = [{ poItemId: item(0), quantityReceived: 10 }, { poItemId: item(1), quantityReceived: 10 }]
    const grn = await shop.receive(id, both)
    assert.strictEqual(await statusOf(id), "received")
    await decide(grn, "reject")
    assert.strictEqual(await statusOf(id), "approved")
    await shop.move(id, "send")
    await decide(await shop.receive(id, both), "reject")
    assert.strictEqual(await statusOf(id), "sent")
    await shop.move(id, "cancel")
  })

  it("name each line that cannot be received, and no order that is a draft", async () => {
    const { id, item } = await shop.approved([await shop.line()])
    const poItemId = item(0)
    const cases: ReadonlyArray<readonly [string, object]> = [
      ["items.0.quantityReceived", { poItemId, quantityReceived: 12 }],
      ["items.0.quantityReceived", { poItemId, quantityReceived: 5, quantityAccepted: 5, quantityRejected: 1 }],
      ["items.0.quantityReceived", { poItemId, quantityReceived: 1, quantityRejected: 2 }],
      ["items.0.quantityOrdered", { poItemId, quantityReceived: 5, quantityOrdered: 11 }],
      ["items.0.entityId", { poItemId, quantityReceived: 5, entityId: randomUUID() }],
      ["items.0.poItemId", { poItemId: randomUUID(), quantityReceived: 5 }]
    ]
    for (const [path, line] of cases) {
      const answer = await shop.refused("422 VALIDATION_FAILED", "POST", "/grn", { poId: id, items: [line] })
      assert.strictEqual(answer.at("error.details.issues.0.path"), path)
    }
    const items = [{ poItemId, quantityReceived: 1 }]
    for (const name of ["supplierId", "warehouseId"]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "/grn", { poId: id, items, [name]: randomUUID() })
    }
    const draft = await shop.draft([await shop.line()])
    await shop.refused("422 INVALID_TRANSITION", "POST", "/grn", { poId: draft.id, items })
    await shop.refused("404 NOT_FOUND", "POST", "/grn", { poId: randomUUID(), items })
    assert.strictEqual(await statusOf(id), "approved")
  })

  it("receive once, accept once and reject once, of eight at the same time", async () => {
    const line = await shop.line()
    const { id, item } = await shop.approved([line])
    const body = { poId: id, items: [{ poItemId: item(0), quantityReceived: 10 }] }
    await raceOf(shop, { method: "POST", path: "/api/procurement/grn", body })
    const { text } = await shop.done("GET", `/grn?poId=${id}`)
    await raceOf(shop, { method: "POST", path: `/api/procurement/grn/${text("data.0.id")}/accept` })
    assert.deepStrictEqual(await shop.stock(line.entityId), [10, 0, "250"])
    const other = await shop.approved([line])
    const parts = await Promise.all(
      [3, 3, 4].map((quantityReceived) => shop.receive(other.id, [{ poItemId: other.item(0), quantityReceived }]))
    )
    const [rejected, ...accepted] = parts
    if (rejected !== undefined) {
      await raceOf(shop, { method: "POST", path: `/api/procurement/grn/${rejected.text("data.id")}/reject` })
    }
    await Promise.all(accepted.map((grn) => decide(grn, "accept")))
    assert.strictEqual(await statusOf(other.id), "partially_received")
    assert.deepStrictEqual(await shop.stock(line.entityId), [17, 3, "250"])
  })

  it("of nothing leave the order as it is, also one that was cancelled meanwhile", async () => {
    const { id, item, path } = await shop.approved([await shop.line()])
    const grn = await shop.receive(id, [{ poItemId: item(0), quantityReceived: 0 }])
    await shop.done("POST", `${path}/cancel`)
    await decide(grn, "reject")
    assert.strictEqual(await statusOf(id), "cancelled")
  })

  it("are accepted while others of the order are received with their lines in another order", async () => {
    const { id, item } = await shop.approved([await shop.line(), await shop.line()])
    const of = (n: number) => ({ poItemId: item(n), quantityReceived: 5 })
    const first = await shop.receive(id, [of(0), of(1)])
    const waiting = (count: number) =>
      waitFor(`${count} that wait`, async () => {
        const [row] = await shop.db.query("select count(*)::int4 as n from pg_locks where not granted")
        return Number(row?.["n"]) >= count
      })
    const sent: Array<Promise<unknown>> = []
    // Both wait for a line that a third one has, the acceptance first.
    await shop.serviceRegistry.run(inHeldTransaction(
      shop,
      Effect.gen(function*() {
        yield* shop.tables.table(orderItems).lock(item(0))
        sent.push(decide(first, "accept"))
        yield* Effect.promise(() => waiting(1))
        sent.push(shop.receive(id, [of(1), of(0)]))
        yield* Effect.promise(() => waiting(2))
      })
    ))
    await Promise.all(sent)
    assert.strictEqual(await statusOf(id), "received")
  })

  it("are closed with what is missing, which becomes a back-order", async () => {
    const [line, all] = [await shop.line(), await shop.line()]
    const { id, item, path } = await shop.approved([line, all])
    const received = [{ poItemId: item(0), quantityReceived: 4 }, { poItemId: item(1), quantityReceived: 10 }]
    const grn = await shop.receive(id, received)
    await shop.refused("409 CONFLICT", "POST", `${path}/close`, { backOrder: true })
    await decide(grn, "accept")
    await raceOf(shop, { method: "POST", path: `/api/procurement${path}/close`, body: { backOrder: true } })
    assert.deepStrictEqual([await statusOf(id), await shop.stock(line.entityId)], ["received", [4, 0, "250"]])
    const [row] = await shop.db.query("select id from purchase_orders where back_order_of = $1", [id])
    const next = await shop.order(String(row?.["id"]))
    assert.deepInclude(next.at("data.po"), { status: "draft", grandTotal: 1_500 })
    const missing = { entityId: line.entityId, quantityOrdered: 6, stockQuantity: 6 }
    assert.deepInclude(next.at("data.items.0"), missing)
    assert.isUndefined(next.at("data.items.1"))
  })

  it("come in the unit of the order and in the store's currency, and lose nothing of their cost", async () => {
    const line = await shop.line({ quantityOrdered: 7, unitCost: 1_000 })
    const { entityId } = line
    const { piece } = await shop.boxed(entityId, "1.5")
    const abroad = await shop.supplier({ currency: "EUR" })
    const body = { supplierId: abroad, warehouseId: await shop.place(), exchangeRate: "1.1", items: [line] }
    await shop.refused("422 VALIDATION_FAILED", "POST", "/purchase-orders", body)
    const euros = { supplierId: abroad, exchangeRate: "1.1" }
    const { id, item } = await shop.approved([{ ...line, quantityOrdered: 8 }], euros)
    assert.deepStrictEqual(await shop.stock(entityId), [0, 12, null])
    const receive = (quantityReceived: number) => ({ poId: id, items: [{ poItemId: item(0), quantityReceived }] })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/grn", receive(3))
    for (const quantity of [2, 6]) await decide(await shop.done("POST", "/grn", receive(quantity)), "accept")
    // 8 boxes of 10.00 at 1.1 are 88.00 for 12 pieces.
    assert.deepStrictEqual(await shop.stock(entityId), [12, 0, "733.3333333333"])
    const pieces = await shop.approved([{ ...line, uomId: piece, quantityOrdered: 5 }])
    assert.deepStrictEqual((await shop.stock(entityId))[1], 5)
    await shop.move(pieces.id, "cancel")
  })

  it("and orders keep the stock unit of their goods while they are open", async () => {
    const { entityId } = await shop.line()
    const { box, piece } = await shop.boxed(entityId, "12")
    const set = async (stockUomId: string) => {
      const units = { purchaseUomId: box, stockUomId, saleUomId: piece }
      const { at, status } = await shop.ask("POST", `/uom/entities/${entityId}/uom`, units)
      return [status, at("error.message")]
    }
    const { id, poNumber } = await shop.draft([{ entityId, quantityOrdered: 1, unitCost: 100 }])
    const message =
      `The stock unit cannot change while the purchase order ${poNumber} counts in it: finish or cancel it first.`
    assert.deepStrictEqual(await set(box), [409, message])
    assert.deepStrictEqual(await set(piece), [201, undefined])
    await shop.move(id, "submit")
    assert.deepStrictEqual(await set(box), [409, message])
    await shop.move(id, "approve")
    const poItemId = (await shop.order(id)).text("data.items.0.id")
    const grn = await shop.receive(id, [{ poItemId, quantityReceived: 1 }])
    assert.strictEqual((await set(box))[0], 409)
    // The order is received, and its goods are no longer incoming: the receipt alone is open.
    await shop.db.query("update stock_levels set incoming = 0 where entity_id = $1", [entityId])
    assert.deepStrictEqual(await set(box), [409, message])
    await shop.db.query("update stock_levels set incoming = 12 where entity_id = $1", [entityId])
    await decide(grn, "reject")
    await shop.move(id, "cancel")
    assert.deepStrictEqual(await set(box), [201, undefined])
  })

  it("of 500 lines with lots are posted in six statements", async () => {
    const [entityId, second] = [await shop.product(), await shop.product()]
    const lines = Array.from({ length: 500 }, (_, n) => ({
      entityId: n % 2 === 0 ? entityId : second,
      quantityOrdered: 2,
      unitCost: 100 + n
    }))
    const { id } = await shop.approved(lines)
    const whole = Object((await shop.order(id)).at("data"))
    const items: ReadonlyArray<{ readonly id: string }> = whole.items
    const grn = await shop.receive(
      id,
      items.map(({ id: poItemId }, n) => ({
        poItemId,
        quantityReceived: 2,
        batchNumber: `B-${n}`,
        expiryDate: "2027-01-31"
      }))
    )
    tap.take()
    await decide(grn, "accept")
    const sent = counted(tap)
    assert.isAtMost(sent.length, 6, sent.join("\n"))
    assert.deepStrictEqual([await shop.stock(entityId), await shop.stock(second)], [[500, 0, "349"], [500, 0, "350"]])
    const lots = await shop.ask("GET", `/warehouse/lots?entityId=${entityId}&expiringBefore=2027-02-01`)
    assert.strictEqual(lots.at("meta.pagination.total"), 250)
  })

  it("and 10,000 orders are listed in as many statements as one", async () => {
    const listed = async () => {
      tap.take()
      const page = await shop.done("GET", "/purchase-orders?status=draft&limit=100&search=PO-")
      return [counted(tap).length, page.at("meta.pagination.total")] as const
    }
    const supplierId = await shop.supplier()
    await shop.draft([await shop.line()], { supplierId })
    const [few] = await listed()
    await shop.db.query(
      `insert into purchase_orders (organization_id, po_number, supplier_id, warehouse_id, requested_by, currency, subtotal,
        grand_total) select 'org_default', 'PO-X' || n, $1, gen_random_uuid(), 'test', 'USD', 0, 0 from generate_series(1, 10000) n`,
      [supplierId]
    )
    const [many, total] = await listed()
    assert.deepStrictEqual([many, Number(total) > 10_000], [few, true])
    tap.take()
    await shop.done("GET", "/back-orders?limit=100")
    assert.isAtMost(counted(tap).length, 3)
  })
})
