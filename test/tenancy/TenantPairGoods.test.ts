import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DownloadRepo, downloadRepoLayer } from "../../src/domain/fulfillment/DownloadRepo.ts"
import { FulfillmentRepo, fulfillmentRepoLayer } from "../../src/domain/fulfillment/FulfillmentRepo.ts"
import { lockOrder, readGoods, unshelvedUnits } from "../../src/domain/fulfillment/OrderGoodsRepo.ts"
import { ShipmentRepo, shipmentRepoLayer } from "../../src/domain/fulfillment/ShipmentRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { OrderStock } from "../../src/domain/inventory/OrderStock.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { givenAway, here, openElsewhere, outsider } from "./Anonymous.ts"

/** Nothing here gets as far as the stock. */
const Repos = Layer.mergeAll(
  downloadRepoLayer,
  fulfillmentRepoLayer,
  Layer.provide(shipmentRepoLayer, Layer.mock(OrderStock, {}))
).pipe(Layer.provideMerge(TestDatabase))

const page = { page: 1, limit: 20 }

/** A shipment of all that the order has. */
const sent = Effect.fnUntraced(function*(order: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  const id = newId()
  yield* sql`with made as (insert into fulfillments (id, organization_id, order_id, type, status)
      values (${id}::uuid, 'org_default', ${order.id}::uuid, 'physical', 'shipped') returning id)
    insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
    select 'org_default', made.id, l.id, l.quantity from made, order_lines l where l.order_id = ${order.id}::uuid`
  return id
})

it.layer(Repos, { excludeTestServices: true })("goods of another organization, past their services", (it) => {
  it.effect("goods: neither read nor locked, and nothing of ours counts that is in another name", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const order = yield* buildOrder({ lines: [{ quantity: 3, fulfillmentStatus: "fulfilled" }] })
      const goods = Effect.map(readGoods(sql, "org_default", order.id), (read) => read?.lines.map((one) => one.covered))
      assert.strictEqual((yield* unshelvedUnits(sql, "org_default", order.id)).length, 1)
      assert.deepStrictEqual(yield* unshelvedUnits(sql, "org_elsewhere", order.id), [])
      assert.isUndefined(yield* readGoods(sql, "org_elsewhere", order.id))
      assert.deepStrictEqual(yield* outsider(Effect.orDie(lockOrder(sql, "org_elsewhere", order.id))), [])
      yield* sent(order)
      assert.deepStrictEqual(yield* goods, [3])
      yield* givenAway("fulfillments", "order_id", order.id)
      assert.deepStrictEqual(yield* goods, [0])
      yield* givenAway("order_lines", "order_id", order.id)
      assert.deepStrictEqual(yield* goods, [])
    }))

  it.effect("shipments: neither made nor changed, and one in another name is none of ours", () =>
    Effect.gen(function*() {
      const shipments = yield* ShipmentRepo
      const order = yield* buildOrder()
      const id = yield* sent(order)
      const plan = () => Effect.die(new Error("Somebody planned a shipment of another organization's order."))
      const kind = (one: { readonly _tag: string }) => one._tag
      const refused = Effect.map(Effect.flip(outsider(shipments.change(order.id, id, plan))), kind)
      assert.strictEqual(yield* refused, "NotFound")
      assert.strictEqual(kind(yield* Effect.flip(outsider(shipments.make(order.id, plan, Effect.void)))), "NotFound")
      assert.strictEqual((yield* here(shipments.change(order.id, id, () => Effect.undefined))).id, id)
      yield* givenAway("fulfillments", "id", id)
      assert.strictEqual(kind(yield* Effect.flip(here(shipments.change(order.id, id, plan)))), "NotFound")
    }))

  it.effect("files: none of what another organization keeps under the same ids", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const downloads = yield* DownloadRepo
      const order = yield* buildOrder()
      const entity = order.lines[0]?.entityId ?? ""
      const [variant, fulfillment] = [newId(), newId()]
      const metadata = (file: string) => JSON.stringify({ downloadUrl: `https://files.example/${file}` })
      yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
        values (${entity}::uuid, 'org_default', 'digitalDownload', ${entity}, 'active', true,
          ${metadata("entity")}::jsonb)`
      yield* sql`insert into variants (id, organization_id, entity_id, combination, metadata)
        values (${variant}::uuid, 'org_default', ${entity}::uuid, ${variant}, ${metadata("variant")}::jsonb)`
      yield* sql`update order_lines set entity_type = 'digitalDownload', variant_id = ${variant}::uuid
        where order_id = ${order.id}::uuid`
      yield* sql`insert into fulfillments (id, organization_id, order_id, order_line_id, type, status)
        select ${fulfillment}::uuid, 'org_default', order_id, id, 'digital-download', 'fulfilled' from order_lines
        where order_id = ${order.id}::uuid`
      const granted = Effect.map(
        here(downloads.ofOrder(order.id, page)),
        ({ items }) => items.map(({ file, fulfillmentId }) => [file, fulfillmentId])
      )
      assert.deepStrictEqual(yield* granted, [["https://files.example/variant", fulfillment]])
      yield* givenAway("variants", "id", variant)
      assert.deepStrictEqual(yield* granted, [["https://files.example/entity", fulfillment]])
      yield* givenAway("catalog_entities", "id", entity)
      assert.deepStrictEqual(yield* granted, [[null, fulfillment]])
      yield* givenAway("fulfillments", "id", fulfillment)
      assert.deepStrictEqual(yield* granted, [[null, null]])
    }))

  it.effect("digital goods are not handed over", () =>
    Effect.gen(function*() {
      const repo = yield* FulfillmentRepo
      const order = yield* buildOrder()
      const at = new Date()
      const line = { id: order.lines[0]?.id ?? "", title: "A thing", sku: null, quantity: 1 }
      const record = {
        id: newId(),
        orderId: order.id,
        type: "digital-access",
        status: "fulfilled",
        lineItems: [line],
        createdAt: at,
        updatedAt: at
      } as const
      assert.deepStrictEqual(yield* outsider(repo.deliver(order.id, [record])), [])
      assert.strictEqual((yield* here(repo.deliver(order.id, [record]))).length, 1)
    }))
})
