import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Statement } from "effect/sql"
import { randomUUID } from "node:crypto"
import { type CurrentActor, EntityId, type WarehouseId } from "stoa/plugin"
import { statementsOf } from "../../../../test/pricing/Statements.ts"
import type { Lots } from "../Lots.ts"
import { approve } from "../Reconciliations.ts"
import { dispatch, receive, transfers } from "../Transfers.ts"
import { approveWastage } from "../Wastage.ts"
import { openYard, type Yard } from "./Yard.ts"

describe("the posting of a document", () => {
  let yard: Yard
  let here: WarehouseId
  let there: WarehouseId
  beforeAll(async () => {
    yard = await openYard()
    here = await yard.place()
    there = await yard.place()
  })
  afterAll(() => yard.close())

  const run = <A, E>(work: Effect.Effect<A, E, CurrentActor | Lots>) => yard.run(yard.withLots(work))

  /** Documents about so many things, each with a lot, as far as their last move but one, and that move. */
  const documentsOf = async (count: number) => {
    const ids = Array.from({ length: count }, () => EntityId.make(randomUUID()))
    await yard.app.db.query(
      `insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        select id, 'org_default', 'product', id, 'active', true from unnest($1::uuid[]) g (id)`,
      [ids]
    )
    const entities = ids.map((entityId) => ({ entityId, itemName: "thing" }))
    const { tools } = yard
    const lots = ids.map((entityId) => ({ entityId, warehouseId: here, batchNumber: "B", quantity: 10, delta: 10 }))
    await yard.run(tools.services.inventory.post({ type: "test", id: randomUUID() }, lots))
    await yard.run(yard.receive(lots))
    const requested = entities.map((one) => ({ ...one, quantityRequested: 3 }))
    const transfer = await yard.approved(await yard.transfer(here, there, requested))
    const damaged = entities.map((one) => ({ ...one, quantity: 1, unitCost: 5 }))
    const note = await yard.create("wastage", { warehouseId: here, type: "damage", items: damaged })
    const items = await yard.app.db.query("select id from stock_transfer_items where transfer_id = $1", [transfer])
    const arrivals = items.map(({ id }) => ({ itemId: String(id), quantityReceived: 2 }))
    const recount = async () => {
      const counted = entities.map((one) => ({ ...one, physicalQuantity: 4 }))
      const id = await yard.create("reconciliations", { warehouseId: here, items: counted })
      await yard.done("POST", `/reconciliations/${id}/submit`)
      return id
    }
    return [
      async () => Effect.asVoid(dispatch(tools, transfer)),
      async () => Effect.asVoid(receive(tools, transfer, arrivals)),
      async () => Effect.asVoid(approveWastage(tools, note)),
      async () => Effect.asVoid(approve(tools, await recount()))
    ]
  }

  /** Everything that documents, lots and stock are. */
  const everything = async () => {
    const tables = ["stock_transfers", "stock_transfer_items", "stock_transfer_lots", "stock_transfer_discrepancies"]
    const own = ["wastage_notes", "stock_reconciliations", "reconciliation_items", "warehouse_lots", "stock_levels"]
    const all = [...tables, ...own, "stock_movements", "stock_postings"]
    const sums = all.map((name) => `(select md5(string_agg(t::text, '' order by t::text)) from ${name} t) as ${name}`)
    return (await yard.app.db.query(`select ${sums.join()}`))[0]
  }

  it(
    "that dies at any of its statements leaves document, lots and stock as they were, and is done by the next try",
    async () => {
      for (const post of await documentsOf(2)) {
        const work = await post()
        const before = await everything()
        for (let at = 1;; at++) {
          let left = at
          const dies: Statement.Transformer = (statement) =>
            --left === 0 ? Effect.die("killed") : Effect.succeed(statement)
          const exit = await run(Effect.exit(Effect.provideService(work, Statement.CurrentTransformer, dies)))
          if (Exit.isSuccess(exit)) {
            assert.isAbove(at, 5)
            break
          }
          assert.include(String(exit.cause), "killed")
          assert.deepStrictEqual(await everything(), before, `killed at statement ${at}`)
        }
        assert.notDeepEqual(await everything(), before)
      }
    }
  )

  it("takes as many statements for 500 lines as for two", async () => {
    const counts: Array<ReadonlyArray<number>> = []
    for (const size of [2, 500]) {
      const counted: Array<number> = []
      for (const post of await documentsOf(size)) counted.push((await run(statementsOf(await post()))).length)
      counts.push(counted)
    }
    assert.deepStrictEqual(counts[1], counts[0])
  })

  it("leaves lists of 10,000 documents two statements for a page", async () => {
    await yard.app.db.query(
      `insert into stock_transfers (id, organization_id, transfer_number, from_warehouse_id, to_warehouse_id, requested_by)
        select gen_random_uuid(), 'org_default', 'OLD-' || n, $1, $2, 'x' from generate_series(1, 10000) n`,
      [here, there]
    )
    const page = yard.app.tables.table(transfers).page({ status: "draft" }, { page: 400, limit: 20 })
    assert.strictEqual((await run(statementsOf(page))).length, 2)
    assert.strictEqual((await run(page)).items.length, 20)
  })
})
