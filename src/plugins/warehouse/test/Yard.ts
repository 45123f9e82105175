import { assert, inject } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type CurrentActor, EntityId, PluginContext, WarehouseId } from "stoa/plugin"
import { buildersOf, createPluginTestApp } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { warehouse } from "../index.ts"
import { Lots, type ReceivedUnits, type Units } from "../Lots.ts"

/** A store with warehouses. */
export const openYard = async () => {
  const app = await createPluginTestApp(warehouse, {
    postgres: inject("postgres"),
    rateLimits: { strict: 1_000_000, api: 1_000_000, checkout: 1_000_000 }
  })
  const builders = buildersOf(app)
  let made = 0

  const { ask, done, refused } = callsOf(app, "/warehouse")
  /** A request that is refused for a value of its body. */
  const wrong = async (named: string, path: string, body?: object) => {
    const { at } = await refused("422 VALIDATION_FAILED", "POST", path, body)
    assert.strictEqual(at("error.details.issues.0.path"), named, JSON.stringify(body))
  }
  const place = async () => {
    const code = `W-${++made}`
    return WarehouseId.make((await ask("POST", "/inventory/warehouses", { name: code, code })).text("data.id"))
  }
  const adjust = async (entityId: string, warehouseId: string, adjustment: number) => {
    const { status } = await ask("POST", "/inventory/adjust", { entityId, warehouseId, adjustment })
    assert.strictEqual(status, 200)
  }
  /** Things of which so many are in a warehouse, at a cost each. */
  const thing = async (warehouseId: WarehouseId, quantity: number, unitCost = 250) => {
    const entityId = EntityId.make(await builders.product({ stock: 0 }))
    const restock = { entityId, warehouseId, type: "restock", quantity, unitCost }
    assert.strictEqual((await ask("POST", "/inventory/adjust", restock)).status, 200)
    return entityId
  }
  /** Goods whose units cost a part of a minor unit, as a receipt brings them in. */
  const gram = async (warehouseId: WarehouseId, delta: number, unitCost: string) => {
    const entityId = EntityId.make(await builders.product({ stock: 0 }))
    const line = { entityId, warehouseId, delta, unitCost }
    await app.serviceRegistry.run(app.serviceRegistry.services.inventory.post({ type: "grn", id: entityId }, [line]))
    return entityId
  }
  /** Units on hand and in transit of a thing in a warehouse. */
  const stock = async (entityId: string, warehouseId: string) => {
    const [row] = await app.db.query(
      "select on_hand, in_transit from stock_levels where entity_id = $1 and warehouse_id = $2",
      [entityId, warehouseId]
    )
    return [row?.["on_hand"] ?? 0, row?.["in_transit"] ?? 0]
  }
  /** A new record; its id. */
  const create = async (path: string, body: object) => (await done("POST", `/${path}`, body)).text("data.id")
  const transfer = (fromWarehouseId: string, toWarehouseId: string, items: ReadonlyArray<object>) =>
    create("transfers", { fromWarehouseId, toWarehouseId, items: items.map((one) => ({ itemName: "thing", ...one })) })
  const approved = async (id: string) => {
    await done("POST", `/transfers/${id}/approve`)
    return id
  }
  const tools = { db: app.tables, services: app.serviceRegistry.services }
  const withLots = <A, E>(work: Effect.Effect<A, E, CurrentActor | Lots>) =>
    work.pipe(Effect.provide(Lots.layer), Effect.provideService(PluginContext, app.context))
  /** Batches with their units in a warehouse, first expired first. */
  const lotsIn = async (warehouseId: string, query = "") => {
    const rows = (await done("GET", `/lots?warehouseId=${warehouseId}${query}`)).list("data").map(Object)
    return rows.map(({ batchNumber, quantity }) => [batchNumber, quantity])
  }
  return {
    app,
    builders,
    ask,
    done,
    refused,
    wrong,
    adjust,
    place,
    thing,
    gram,
    stock,
    create,
    transfer,
    approved,
    tools,
    withLots,
    lotsIn,
    run: app.serviceRegistry.run,
    receive: (lines: ReadonlyArray<ReceivedUnits>) => withLots(Lots.use((lots) => lots.receive(lines))),
    /** A document by which units leave; the lots that each of its lines took. */
    take: (
      lines: ReadonlyArray<Units & { readonly batchNumber?: string }>,
      type: "adjustment" | "sale" = "adjustment"
    ) => {
      const out = lines.map(({ quantity, ...line }) => ({ ...line, delta: -quantity, type }))
      const posted = Lots.use((lots) => lots.post(tools.services.inventory, { type: "test", id: randomUUID() }, out))
      return withLots(Effect.map(posted, (all) => all.map(({ lots }) => lots)))
    },
    /** What lots say beyond what is on hand: nothing, always. */
    surplus: () =>
      app.db.query(`select l.entity_id, sum(l.quantity) as lots, max(s.on_hand) as on_hand from warehouse_lots l
        left join stock_levels s on s.warehouse_id = l.warehouse_id and s.sellable_id = coalesce(l.variant_id, l.entity_id)
        group by 1, l.variant_id, l.warehouse_id having sum(l.quantity) > greatest(coalesce(max(s.on_hand), 0), 0)`),
    close: app.close
  }
}

export type Yard = Awaited<ReturnType<typeof openYard>>
