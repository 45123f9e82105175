import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { api, asAdmin, asStaff, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { addEntity, addVariant } from "./StockRows.ts"

const newWarehouse = (body: object = {}) =>
  Effect.map(
    api("POST", "/api/inventory/warehouses", { body: { name: "Hall", code: randomUUID(), ...body }, as: asAdmin }),
    (answer) => answer.text("data.id")
  )

const post = (path: string, body: unknown) => api("POST", `/api/inventory/${path}`, { body, as: asStaff })

/** A new entity with so many units on hand in a new warehouse. */
const stocked = Effect.fnUntraced(function*(quantity: number) {
  const [entityId, warehouseId] = [yield* addEntity, yield* newWarehouse()]
  const answer = yield* post("adjust", { entityId, warehouseId, type: "restock", quantity })
  assert.strictEqual(answer.status, 200)
  return { entityId, warehouseId }
})

const available = (entityId: string) =>
  Effect.map(
    api("GET", `/api/inventory/check?entityIds=${entityId}`, { as: asStaff }),
    (answer) => answer.number(`data.${entityId}`)
  )

withSharedApp("inventory over HTTP", (it) => {
  describe("adjust", () => {
    it.effect("adjusts by type and quantity, and answers the level with before, after, delta and movement", () =>
      Effect.gen(function*() {
        const { entityId, warehouseId } = yield* stocked(10)
        const answer = yield* post("adjust", { entityId, warehouseId, type: "damage", quantity: 4 })
        assert.strictEqual(answer.status, 200)
        assert.deepInclude(answer.at("data"), {
          entityId,
          variantId: null,
          warehouseId,
          quantityOnHand: 6,
          quantityReserved: 0,
          available: 6,
          before: 10,
          after: 6,
          delta: -4
        })
        assert.match(answer.text("data.lastRestockedAt"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.isString(answer.at("data.movementId"))
      }))

    it.effect("adjusts by a signed number and a mode with an amount, with or without a reason", () =>
      Effect.gen(function*() {
        const { entityId, warehouseId } = yield* stocked(10)
        const signed = yield* post("adjust", { entityId, warehouseId, adjustment: -3, reason: "count" })
        assert.strictEqual(signed.number("data.after"), 7)
        const set = yield* post("adjust", { entityId, warehouseId, mode: "set", amount: 2 })
        assert.strictEqual(set.number("data.after"), 2)
        const removed = yield* post("adjust", { entityId, warehouseId, mode: "remove", amount: 500 })
        assert.strictEqual(removed.number("data.delta"), -2)
      }))

    it.effect("adjusts in a default warehouse when none is named", () =>
      Effect.gen(function*() {
        const entityId = yield* addEntity
        yield* newWarehouse()
        const answer = yield* post("adjust", { entityId, type: "restock", quantity: 1 })
        assert.strictEqual(answer.status, 200)
      }))

    it.effect("refuses an adjustment with 422 for a wrong quantity, type or form and names the field", () =>
      Effect.gen(function*() {
        const { entityId, warehouseId } = yield* stocked(1)
        const refused: ReadonlyArray<readonly [form: object, path: string]> = [
          [{ type: "restock", quantity: 0 }, "quantity"],
          [{ type: "restock", quantity: 1.5 }, "quantity"],
          [{ type: "restock", quantity: "5" }, "quantity"],
          [{ type: "theft", quantity: 1 }, "type"],
          [{ type: "sale", quantity: 2 }, "quantity"],
          [{ type: "restock", quantity: 3_000_000_000 }, "quantity"],
          [{ mode: "add", amount: -1 }, "amount"],
          [{ adjustment: 0 }, "adjustment"],
          [{ adjustment: -2 }, "adjustment"],
          [{ adjustment: 3_000_000_000 }, "adjustment"],
          [{ type: "restock" }, "quantity"],
          [{}, "type"],
          [{ type: "restock", quantity: 1, reason: "\0" }, "reason"],
          [{ type: "restock", quantity: 1, unitCost: -1 }, "unitCost"]
        ]
        for (const [form, path] of refused) {
          const answer = yield* post("adjust", { entityId, warehouseId, ...form })
          assert.deepStrictEqual(
            [answer.status, answer.at("error.code")],
            [422, "VALIDATION_FAILED"],
            JSON.stringify(form)
          )
          assert.strictEqual(answer.text("error.details.issues.0.path"), path)
        }
      }))

    it.effect("refuses an adjustment with 404 for an unknown entity, variant or warehouse and 422 for an invalid id", () =>
      Effect.gen(function*() {
        const { entityId, warehouseId } = yield* stocked(1)
        const foreign = yield* addVariant(yield* addEntity)
        const change = { type: "restock", quantity: 1, entityId, warehouseId }
        for (
          const body of [{ entityId: randomUUID() }, { variantId: randomUUID() }, { variantId: foreign }, {
            warehouseId: randomUUID()
          }]
        ) {
          const answer = yield* post("adjust", { ...change, ...body })
          assert.deepStrictEqual([answer.status, answer.at("error.code")], [404, "NOT_FOUND"])
        }
        assert.strictEqual((yield* post("adjust", { ...change, entityId: "7" })).status, 422)
      }))
  })

  describe("check", () => {
    it.effect("check sums stock over variants and active warehouses, and gives 0 for the unknown", () =>
      Effect.gen(function*() {
        const { entityId } = yield* stocked(3)
        const closed = yield* newWarehouse({ isActive: false })
        yield* post("adjust", { entityId, warehouseId: closed, type: "restock", quantity: 9 })
        const unknown = randomUUID()
        const answer = yield* api("GET", `/api/inventory/check?entityIds=${entityId},${unknown}`, { as: asStaff })
        assert.deepStrictEqual(answer.body, { data: { [entityId]: 3, [unknown]: 0 } })
      }))

    it.effect("check gives nothing for no ids, 422 for a bad one and for more than a hundred", () =>
      Effect.gen(function*() {
        const ask = (ids: string) => api("GET", `/api/inventory/check${ids}`, { as: asStaff })
        assert.deepStrictEqual((yield* ask("")).body, { data: {} })
        assert.deepStrictEqual((yield* ask("?entityIds=")).body, { data: {} })
        assert.strictEqual((yield* ask("?entityIds=nonsense")).status, 422)
        const many = Array.from({ length: 101 }, () => randomUUID())
        assert.strictEqual((yield* ask(`?entityIds=${many.join(",")}`)).status, 422)
        assert.strictEqual((yield* ask(`?entityIds=${many.slice(1).join(",")}`)).status, 200)
      }))
  })

  describe("reserve and release", () => {
    it.effect("reserve takes available units, and release gives back at most what the order holds", () =>
      Effect.gen(function*() {
        const { entityId } = yield* stocked(5)
        const orderId = randomUUID()
        const reserved = yield* post("reserve", { entityId, quantity: 3, orderId })
        assert.deepStrictEqual([reserved.status, reserved.body], [200, { data: { reserved: true } }])
        assert.strictEqual(yield* available(entityId), 2)
        const released = yield* post("release", { entityId, quantity: 99, orderId })
        assert.deepStrictEqual([released.status, released.body], [200, { data: { released: true } }])
        assert.strictEqual(yield* available(entityId), 5)
      }))

    it.effect("reserve answers 422 with the available units if the stock is short", () =>
      Effect.gen(function*() {
        const { entityId } = yield* stocked(1)
        const answer = yield* post("reserve", { entityId, quantity: 2, orderId: "o" })
        assert.strictEqual(answer.status, 422)
        assert.strictEqual(answer.text("error.message"), "Insufficient stock. Available: 1, requested: 2.")
      }))

    it.effect("reserve and release answer 404 without a level and for an order that holds nothing, 422 for a wrong body", () =>
      Effect.gen(function*() {
        const { entityId } = yield* stocked(1)
        const wish = { entityId, quantity: 1, orderId: "order without stock" }
        assert.strictEqual((yield* post("reserve", { ...wish, entityId: randomUUID() })).status, 404)
        assert.strictEqual((yield* post("release", wish)).status, 404)
        for (
          const bad of [{ quantity: 0 }, { quantity: 1.5 }, { orderId: "" }, { orderId: "\0" }, { orderId: undefined }]
        ) {
          assert.strictEqual((yield* post("reserve", { ...wish, ...bad })).status, 422, JSON.stringify(bad))
          assert.strictEqual((yield* post("release", { ...wish, ...bad })).status, 422, JSON.stringify(bad))
        }
      }))

    it.effect("reserve succeeds for five of twelve simultaneous requests for five units", () =>
      Effect.gen(function*() {
        const { entityId } = yield* stocked(5)
        const answers = yield* Effect.all(
          Array.from({ length: 12 }, () => post("reserve", { entityId, quantity: 1, orderId: randomUUID() })),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(answers.filter(({ status }) => status === 200).length, 5)
        assert.strictEqual(answers.filter(({ status }) => status === 422).length, 7)
      }))
  })

  describe("warehouses and levels", () => {
    it.effect("creates a warehouse with 201 and refuses a taken code with 409", () =>
      Effect.gen(function*() {
        const address = { line1: "1 Dock", city: "Oslo", postalCode: "0150", country: "NO" }
        const body = { name: "North", code: randomUUID(), address, priority: 3, metadata: { a: 1 } }
        const created = yield* post("warehouses", body)
        assert.strictEqual(created.status, 201)
        assert.deepInclude(created.at("data"), { ...body, organizationId: yield* theOrganization, isActive: true })
        const again = yield* post("warehouses", body)
        assert.deepStrictEqual([again.status, again.at("error.code")], [409, "CONFLICT"])
        const refused = [{ name: "No code" }, { ...body, name: "a\0b" }, { ...body, code: "c", metadata: { a: "\0" } }]
        for (const bad of refused) assert.strictEqual((yield* post("warehouses", bad)).status, 422, JSON.stringify(bad))
      }))

    it.effect("lists warehouses by priority, in pages", () =>
      Effect.gen(function*() {
        const first = yield* newWarehouse({ priority: -9 })
        const answer = yield* api("GET", "/api/inventory/warehouses?limit=1", { as: asStaff })
        assert.strictEqual(answer.text("data.0.id"), first)
        assert.deepInclude(answer.at("meta.pagination"), { page: 1, limit: 1 })
      }))

    it.effect("lists the levels of an entity or a warehouse", () =>
      Effect.gen(function*() {
        const { entityId, warehouseId } = yield* stocked(4)
        for (const filter of [`entityId=${entityId}`, `warehouseId=${warehouseId}`]) {
          const answer = yield* api("GET", `/api/inventory/levels?${filter}`, { as: asStaff })
          assert.strictEqual(answer.number("meta.pagination.total"), 1)
          assert.deepInclude(answer.at("data.0"), {
            entityId,
            warehouseId,
            quantityOnHand: 4,
            available: 4,
            version: 1
          })
        }
        assert.strictEqual((yield* api("GET", "/api/inventory/levels?entityId=x", { as: asStaff })).status, 422)
      }))
  })

  it.effect("repeats the response for a repeated Idempotency-Key, and adjusts once", () =>
    Effect.gen(function*() {
      const { entityId, warehouseId } = yield* stocked(1)
      const body = { entityId, warehouseId, type: "restock", quantity: 2 }
      const headers = { "idempotency-key": randomUUID() }
      const send = api("POST", "/api/inventory/adjust", { body, headers, as: asStaff })
      assert.deepStrictEqual((yield* send).body, (yield* send).body)
      assert.strictEqual(yield* available(entityId), 3)
    }))
})
