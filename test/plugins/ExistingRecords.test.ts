import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  childOf,
  definePlugin,
  EntityId,
  group,
  idOf,
  table,
  Text,
  text,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, inOrganization, live, testAppLayer } from "../support/TestApp.ts"

const shelves = table("shelves", { name: text, warehouseId: idOf(WarehouseId).existing("warehouse") })
const labels = childOf(shelves, "shelfId", "shelf_labels", {
  shelfId: uuid.references(shelves),
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable
})

const routes = group("Shelves", "/shelves")
const body = Schema.Struct({ name: Schema.optional(Text), warehouseId: Schema.optional(WarehouseId) })

const plugin = definePlugin({
  id: "shelves",
  version: "1.0.0",
  schema: () => [shelves, labels],
  routes: () => [
    routes.post("/", { auth: true, input: Schema.Struct({ warehouseId: WarehouseId }), success: shelves.Row })
      .handle(({ db, input }) => db.table(shelves).insert({ ...input, name: "Top" })),
    routes.patch("/:id", { auth: true, input: body, success: shelves.Row })
      .handle(({ db, input, params }) => db.table(shelves).update(params.id, input)),
    routes.post("/:id/labels", {
      auth: true,
      input: Schema.Struct({ entityId: EntityId, variantId: Schema.NullOr(VariantId) }),
      success: labels.Row
    }).handle(({ db, input, params }) => db.table(labels).insert({ ...input, shelfId: params.id }))
  ]
})

const made = Effect.fnUntraced(function*(path: string, sent: object, as = asAdmin) {
  const answer = yield* api("POST", path, { as, body: sent })
  assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
  return answer.text("data.id")
})
const aProduct = (as = asAdmin) => made("/api/catalog/entities", { type: "product", slug: newId() }, as)
const aVariant = (entity: string) => made(`/api/catalog/entities/${entity}/variants`, { options: {} })
const aWarehouse = (as = asAdmin) => made("/api/inventory/warehouses", { name: "Hall", code: newId() }, as)
const refused = Effect.fnUntraced(
  function*(path: string, ...[method, url, sent]: readonly ["POST" | "PATCH", string, object]) {
    const answer = yield* api(method, url, { as: asAdmin, body: sent })
    assert.deepStrictEqual(
      [answer.status, answer.at("error.details.issues.0.path")],
      [422, path],
      JSON.stringify(answer.body)
    )
  }
)

layer(testAppLayer({ plugins: [plugin] }), live)(
  "a column that names a record of the core",
  (it) => {
    it.effect("refuses ids of nothing and of others, also in a child and in a change, and keeps those that go later", () =>
      Effect.gen(function*() {
        yield* onDatabase((sql) => sql`insert into organizations (id, slug, name) values ('org_b', 'org_b', 'B')`)
        const elsewhere = inOrganization("org_b", asAdmin)
        const warehouseId = yield* aWarehouse()
        for (const unknown of [newId(), yield* aWarehouse(elsewhere)]) {
          yield* refused("warehouseId", "POST", "/api/shelves", { warehouseId: unknown })
        }
        const shelf = `/api/shelves/${yield* made("/api/shelves", { warehouseId })}`
        yield* refused("warehouseId", "PATCH", shelf, { warehouseId: newId() })

        const [entityId, other] = [yield* aProduct(), yield* aProduct()]
        const label = `${shelf}/labels`
        for (const unknown of [newId(), yield* aProduct(elsewhere)]) {
          yield* refused("entityId", "POST", label, { entityId: unknown, variantId: null })
        }
        yield* refused("variantId", "POST", label, { entityId, variantId: yield* aVariant(other) })
        yield* made(label, { entityId, variantId: yield* aVariant(entityId) })

        yield* onDatabase((sql) => sql`delete from warehouses where id = ${warehouseId}::uuid`)
        assert.strictEqual((yield* api("PATCH", shelf, { as: asAdmin, body: { name: "Low" } })).status, 200)
      }))
  }
)
