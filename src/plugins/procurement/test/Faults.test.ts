import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { tapOn } from "../../../../test/support/StatementTap.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { openShop, type Shop } from "./ProcurementShop.ts"

/** More than any of these requests sends, with what begins and ends transactions. */
const statements = 20

describe("a process that ends between two statements", () => {
  let shop: Shop
  const scope = Scope.makeUnsafe()
  /** Before which statement the connection of the request is cut, counted from its first one about documents. */
  let left = 0
  let own: number | undefined
  beforeAll(async () => {
    const before = (text: string, connection: number, cut: () => void) => {
      if (left > 0 && own === undefined && /purchase_order|goods_received/.test(text)) own = connection
      if (connection === own && left > 0 && --left === 0) cut()
    }
    const tap = await Effect.runPromise(Scope.provide(tapOn(inject("postgres").url, before), scope))
    shop = await openShop({}, { postgres: tap.url, jobs: { autorun: { enabled: false } } })
  }, 60_000)
  afterAll(async () => {
    await shop.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  /** Sends a request that is cut off before each of its statements in turn; `check` compares documents and stock. */
  const cutOff = async (path: string, body: object, check: () => Promise<void>) => {
    const statuses: Array<number> = []
    for (let at = 1; at <= statements; at++) {
      own = undefined
      left = at
      const { status } = await shop.ask("POST", `/procurement${path}`, body)
      const isWhole = left > 0
      left = 0
      // A commit whose answer was cut off may still be under way.
      await waitFor(
        "the end of its transaction",
        async () =>
          (await shop.db.query(`select 1 from pg_stat_activity where datname = current_database()
          and pid <> pg_backend_pid() and xact_start is not null`)).length === 0
      )
      await check()
      statuses.push(status)
      if (isWhole || status === 201 || status === 422) return statuses
    }
    return assert.fail(`It is not done: ${statuses.join(", ")}`)
  }

  it("leaves order, receipt and stock agreed, and what is repeated is done once", async () => {
    const line = await shop.line()
    const { id } = Object(await shop.draft([line]))
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
        grn: notes.text("data.0.id"),
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
    for (const statuses of [approving, receiving, accepting]) assert.isAtLeast(statuses.length, 6, statuses.join(", "))
  }, 120_000)
})
