import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import {
  type Actor,
  Conflict,
  CurrencyCode,
  CurrentActor,
  definePlugin,
  EntityId,
  group,
  table,
  Text,
  text,
  WarehouseId
} from "stoa/plugin"
import {
  type Builders,
  buildersOf,
  createPluginTestApp,
  type PluginTestApp,
  testAdminActor,
  type TestAnswer,
  testCustomerActor,
  testNoPermActor
} from "stoa/plugin/testing"
import { at } from "../support/TestApp.ts"

const notes = table("counter_notes", { body: text })
const routes = group("Counter", "/counter")
const Sale = Schema.Struct({ id: Text, entityId: EntityId, warehouseId: WarehouseId })

/** The actors that the last request of a visitor's kind worked as. */
let seen: ReadonlyArray<Actor> = []

const counter = definePlugin({
  id: "counter",
  version: "1.0.0",
  schema: () => [notes],
  routes: () => {
    const sold = ({ id, entityId, warehouseId }: typeof Sale.Type) => ({
      reference: { type: "sale", id },
      currency: CurrencyCode.make("USD"),
      channel: "counter",
      warehouseId,
      lineItems: [{ entityId, quantity: 1, isCustomPrice: true, unitPrice: 700 }],
      tenders: [{ method: "test", label: "Card", amount: 700, reference: id }]
    })
    return [
      routes.post("/sales", { auth: true, input: Sale }).handle(({ asStore, input, services }) =>
        asStore(services.orders.createSold(sold(input), () => Effect.void))
      ),
      routes.post("/own-sales", { auth: true, input: Sale }).handle(({ asStore, input, services }) =>
        asStore(Conflict.of("The drawer is stuck.")).pipe(
          Effect.catchIf(Schema.is(Conflict), () => Effect.void),
          Effect.andThen(services.orders.createSold(sold(input), () => Effect.void))
        )
      ),
      routes.post("/notes", { public: "for the test" }).handle(({ actor, asStore, db }) =>
        Effect.gen(function*() {
          const outer = yield* CurrentActor
          const [within, nested, row] = yield* asStore(
            Effect.all([CurrentActor, asStore(CurrentActor), db.table(notes).insert({ body: "as the store" })])
          )
          seen = [actor, outer, within, nested, yield* CurrentActor]
          return row
        })
      )
    ]
  }
})

describe("asStore of a plugin's call", () => {
  let app: PluginTestApp
  let build: Builders
  beforeAll(async () => {
    app = await createPluginTestApp(counter, { postgres: inject("postgres") })
    build = buildersOf(app)
  })
  afterAll(() => app.close())

  const sale = async () => {
    const entityId = await build.product()
    const [warehouse] = await app.db.query("select id from warehouses")
    return { id: randomUUID(), entityId, warehouseId: warehouse?.["id"] }
  }
  /** Who made the changes of the record that an answer shows. */
  const authorsOf = async (type: string, { body }: TestAnswer) => {
    const path = `/api/audit/${encodeURIComponent(type)}/${at(body, "data.id")}`
    const trail = Object(at((await app.app.request("GET", path, { as: testAdminActor })).body, "data"))
    return new Set(trail.map((entry: object) => Reflect.get(entry, "actorId")))
  }

  it("does what only the store may, in the name of the person who asks", async () => {
    const body = await sale()
    const made = await app.app.request("POST", "/api/counter/sales", { as: testNoPermActor, body })
    assert.strictEqual(made.status, 201)
    assert.deepStrictEqual(await authorsOf("order", made), new Set([testNoPermActor.userId]))
  })

  it("leaves no permission behind, also when its work fails", async () => {
    const body = await sale()
    const { status } = await app.app.request("POST", "/api/counter/own-sales", { as: testNoPermActor, body })
    assert.strictEqual(status, 403)
  })

  it("keeps the user, key, request and address, and hands no cart secret on, however deep", async () => {
    const headers = { "x-cart-secret": "secret of a cart", "x-request-id": "request-1", "user-agent": "Till/1" }
    await app.app.request("POST", "/api/counter/notes", { as: testNoPermActor, headers, body: {} })
    const [actor, outer, within, nested, after] = seen
    assert.isDefined(actor)
    assert.deepStrictEqual([outer, after], [actor, actor])
    assert.deepStrictEqual(nested, within)
    assert.deepStrictEqual<object | undefined>(within, { ...actor, permissions: ["*:*"], cartSecret: null })
    assert.deepInclude(actor, {
      cartSecret: "secret of a cart",
      requestId: "request-1",
      userAgent: "Till/1",
      permissions: []
    })
  })

  it("gives a visitor no name: their changes are by no person", async () => {
    const made = await app.app.request("POST", "/api/counter/notes", { body: {} })
    assert.deepStrictEqual(await authorsOf("counter/counter_notes", made), new Set([null]))
  })

  it("leaves the idempotency record to the change that the request is for", async () => {
    const executionId = randomUUID()
    const as: Actor = { ...testCustomerActor, cartSecret: null, requestId: null, executionId }
    const recorded = () => app.db.query("select 1 from idempotency_records where execution_id = $1", [executionId])
    const { call } = app.context
    const create = (email: string) => Effect.flatMap(call, ({ services }) => services.customers.create({ email }))
    await app.serviceRegistry.run(Effect.flatMap(call, ({ asStore }) => asStore(create("inner@example.com"))), as)
    assert.strictEqual((await recorded()).length, 0)
    await app.serviceRegistry.run(create("outer@example.com"), as)
    assert.strictEqual((await recorded()).length, 1)
  })
})
