import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { randomUUID } from "node:crypto"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { elsewhere, openElsewhere, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { addTo, aGuestCart, aProduct, aWarehouse, checkOut, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, type Call, live, type TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** What the hook before an item goes into a cart does next; a test sets it. */
let beforeAddItem: Effect.Effect<void> = Effect.void

const hook: Hook = {
  key: "cart.beforeAddItem",
  before: ({ data }) => Effect.suspend(() => Effect.as(beforeAddItem, data))
}

const withHook = layer(testAppLayer({ hooks: [hook] }), live)

/** An unsafe request, and what to send with the same key to be refused. */
interface Unsafe {
  readonly method: string
  readonly path: string
  readonly call: Call
  readonly other?: object
}

const admin = (method: string, path: string, body?: object, other?: object): Unsafe => ({
  method,
  path,
  call: { as: asAdmin, ...(body && { body }) },
  ...(other && { other })
})

const send = ({ call, method, path }: Unsafe, key: string, changes: Call = {}) =>
  api(method, path, { ...call, ...changes, headers: { ...call.headers, "idempotency-key": key } })

const word = () => `w${randomUUID().replaceAll("-", "")}`

const anEntity = () => ({ type: "product", slug: word(), status: "active" })

/** Makes a record and gives its path. */
const made = Effect.fnUntraced(function*(path: string, body: object) {
  return `${path}/${(yield* api("POST", path, { as: asAdmin, body })).text("data.id")}`
})

const anItem = Effect.fnUntraced(function*() {
  const cart = yield* aGuestCart()
  const line = yield* addTo(cart, yield* aProduct(), 2)
  return { path: `/api/carts/${cart.id}/items/${line.text("data.id")}`, headers: cart.headers }
})

/** A request for a record that was made for it, at its path and this suffix. */
const onMade = (
  of: Effect.Effect<string, never, TestApp>,
  method: string,
  suffix = "",
  body?: object,
  other?: object
) => Effect.map(of, (path) => admin(method, `${path}${suffix}`, body, other))

/** A request with the body and one with a changed field. */
const posted = (path: string, body: object, changes: object) =>
  Effect.succeed(admin("POST", path, body, { ...body, ...changes }))

const entity = Effect.suspend(() => made("/api/catalog/entities", anEntity()))
const draft = Effect.suspend(() => made("/api/catalog/entities", { ...anEntity(), status: "draft" }))
const brand = Effect.suspend(() => made("/api/catalog/brands", { slug: word(), displayName: "Brand" }))
const discount = { name: "P", type: "percentage_off_order", value: 1 }
const modifier = { name: "Off", type: "percentage_discount", value: 1, validFrom: "2099-01-01T00:00:00.000Z" }
const withStock = (path: string, body: object) =>
  Effect.flatMap(aProduct(), (entityId) => posted(`/api/inventory/${path}`, { entityId, ...body }, { quantity: 4 }))

const kinds: Readonly<Record<string, Effect.Effect<Unsafe, never, TestApp>>> = {
  "create an entity": Effect.suspend(() => posted("/api/catalog/entities", anEntity(), { slug: word() })),
  "change an entity": onMade(entity, "PATCH", "", { metadata: { a: 1 } }, { metadata: { a: 2 } }),
  "delete an entity": onMade(entity, "DELETE"),
  "publish an entity": onMade(draft, "POST", "/publish"),
  "set attributes": onMade(entity, "PUT", "/attributes/de", { title: "Hemd" }, { title: "Hose" }),
  "create a category": Effect.suspend(() => posted("/api/catalog/categories", { slug: word() }, { slug: word() })),
  "delete a brand": onMade(brand, "DELETE"),
  "create an option": onMade(entity, "POST", "/options", { name: "Size", values: ["S"] }, {
    name: "Size",
    values: ["M"]
  }),
  "set a price": Effect.flatMap(
    aProduct(),
    (entityId) => posted("/api/pricing/prices", { entityId, currency: "EUR", amount: 5 }, { amount: 6 })
  ),
  "create a modifier": posted("/api/pricing/modifiers", modifier, { value: 2 }),
  "create a promotion": Effect.suspend(() => posted("/api/promotions", { ...discount, code: word() }, { value: 2 })),
  "deactivate a promotion": onMade(made("/api/promotions", discount), "POST", "/deactivate"),
  "create a warehouse": Effect.suspend(() =>
    posted("/api/inventory/warehouses", { name: "House", code: word() }, { name: "Home" })
  ),
  "adjust stock": Effect.flatMap(
    aWarehouse(),
    (warehouseId) => withStock("adjust", { warehouseId, type: "restock", quantity: 3 })
  ),
  "reserve stock": Effect.suspend(() => withStock("reserve", { quantity: 2, orderId: randomUUID() })),
  "create a cart": Effect.succeed({
    method: "POST",
    path: "/api/carts",
    call: { body: { currency: "USD" } },
    other: { currency: "EUR" }
  }),
  "add an item": Effect.gen(function*() {
    const { headers, id } = yield* aGuestCart()
    const body = { entityId: yield* aProduct(), quantity: 1 }
    return { method: "POST", path: `/api/carts/${id}/items`, call: { headers, body }, other: { ...body, quantity: 2 } }
  }),
  "change an item": Effect.map(
    Effect.suspend(anItem),
    ({ headers, path }) => ({ method: "PATCH", path, call: { headers, body: { quantity: 5 } }, other: { quantity: 6 } })
  ),
  "remove an item": Effect.map(
    Effect.suspend(anItem),
    ({ headers, path }) => ({ method: "DELETE", path, call: { headers } })
  ),
  "change an order's status": Effect.gen(function*() {
    const cart = yield* aGuestCart()
    yield* putInto(cart, yield* aProduct())
    const path = `/api/orders/${(yield* checkOut(cart)).text("data.id")}/status`
    return admin("PATCH", path, { status: "confirmed" }, { status: "cancelled" })
  })
}

const repeated = (first: Answer, second: Answer) =>
  assert.deepStrictEqual([second.status, second.body], [first.status, first.body])

withHook("idempotency keys", (it) => {
  for (const [name, kind] of Object.entries(kinds)) {
    it.effect(`${name}: the same key gives the same answer, and with another body a refusal`, () =>
      Effect.gen(function*() {
        const unsafe = yield* kind
        const key = randomUUID()
        const first = yield* send(unsafe, key)
        assert.include([200, 201], first.status, JSON.stringify(first.body))
        repeated(first, yield* send(unsafe, key))
        if (unsafe.other !== undefined) {
          refused(yield* send(unsafe, key, { body: unsafe.other }), 422, "VALIDATION_FAILED")
        }
        repeated(first, yield* send(unsafe, key))
      }))
  }

  describe("effects", () => {
    it.effect("happen once however often a request is repeated, also at once", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 10 })
        const body = { entityId, warehouseId: yield* aWarehouse(), type: "restock", quantity: 5 }
        const adjust = admin("POST", "/api/inventory/adjust", body)
        const key = randomUUID()
        const answers = yield* Effect.all(Array.from({ length: 8 }, () => send(adjust, key)), {
          concurrency: "unbounded"
        })
        for (const answer of answers) {
          if (answer.status === 200) assert.strictEqual(answer.at("data.after"), 15)
          else {
            refused(answer, 409, "CONFLICT")
            assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/)
          }
        }
        assert.strictEqual((yield* send(adjust, key)).at("data.after"), 15)
        assert.strictEqual((yield* stockOf(entityId)).onHand, 15)
      }))

    it.effect("a key on a read is ignored", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const list = admin("GET", "/api/inventory/warehouses?limit=100")
        const before = yield* send(list, key)
        yield* api("POST", "/api/inventory/warehouses", { as: asAdmin, body: { name: "N", code: word() } })
        const after = yield* send(list, key)
        assert.strictEqual(after.list("data").length, before.list("data").length + 1)
      }))
  })

  describe("callers", () => {
    const warehouse = (code: string) => admin("POST", "/api/inventory/warehouses", { name: "House", code })

    it.effect("two of one organization do not share keys", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const first = yield* send(warehouse(word()), key)
        const second = yield* send(warehouse(word()), key, { as: { ...asAdmin, userId: "user-admin-2" } })
        assert.deepStrictEqual([first.status, second.status], [201, 201])
        assert.notStrictEqual(first.text("data.id"), second.text("data.id"))
      }))

    it.effect("the same user in two organizations does not share keys", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const key = randomUUID()
        const code = word()
        const first = yield* send(warehouse(code), key)
        const second = yield* send(warehouse(code), key, { as: elsewhere })
        assert.deepStrictEqual([first.status, second.status], [201, 201])
        assert.deepStrictEqual(
          [first.at("data.organizationId"), second.at("data.organizationId")],
          ["org_default", "org_other"]
        )
      }))

    it.effect("two guests with separate carts do not share keys", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const body = { entityId: yield* aProduct(), quantity: 1 }
        for (const _ of [1, 2]) {
          const cart = yield* aGuestCart()
          const path = `/api/carts/${cart.id}/items`
          const added = yield* send({ method: "POST", path, call: { headers: cart.headers, body } }, key)
          assert.deepStrictEqual([added.status, added.at("data.cartId")], [201, cart.id])
        }
      }))

    it.effect("a caller without the permission does not get another caller's answer", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const request = warehouse(word())
        assert.strictEqual((yield* send(request, key)).status, 201)
        refused(yield* send(request, key, { as: { ...asAdmin, permissions: [] } }), 403, "FORBIDDEN")
      }))

    it.effect("the same key on another route never gives the first route's answer", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const first = yield* send(warehouse(word()), key)
        const second = yield* send(admin("POST", "/api/catalog/entities", anEntity()), key)
        if (second.status === 201) assert.notStrictEqual(second.at("data.id"), first.at("data.id"))
        else refused(second, 422, "VALIDATION_FAILED")
      }))
  })

  describe("a key is free again", () => {
    it.effect("after a body that was refused", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const good = { name: "House", code: word() }
        const warehouse = admin("POST", "/api/inventory/warehouses", good)
        refused(yield* send(warehouse, key, { body: { name: 1 } }), 422, "VALIDATION_FAILED")
        refused(yield* send(warehouse, key, { body: "{" }), 400, "BAD_REQUEST")
        assert.strictEqual((yield* send(warehouse, key)).status, 201)
      }))

    it.effect("after a conflict and after a record that was not found", () =>
      Effect.gen(function*() {
        const key = randomUUID()
        const taken = { name: "House", code: word() }
        yield* api("POST", "/api/inventory/warehouses", { as: asAdmin, body: taken })
        const warehouse = admin("POST", "/api/inventory/warehouses", taken)
        refused(yield* send(warehouse, key), 409, "CONFLICT")
        assert.strictEqual((yield* send(warehouse, key, { body: { ...taken, code: word() } })).status, 201)

        const other = randomUUID()
        const missing = admin("PATCH", `/api/promotions/${randomUUID()}`, { name: "New" })
        refused(yield* send(missing, other), 404, "NOT_FOUND")
        assert.strictEqual((yield* send(warehouse, other, { body: { ...taken, code: word() } })).status, 201)
      }))

    it.effect("after a failure of the service", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        const body = { entityId: yield* aProduct(), quantity: 1 }
        const add: Unsafe = {
          method: "POST",
          path: `/api/carts/${cart.id}/items`,
          call: { headers: cart.headers, body }
        }
        const key = randomUUID()
        beforeAddItem = Effect.die(new Error("secret detail"))
        const failed = yield* send(add, key)
        beforeAddItem = Effect.void
        assert.isAtLeast(failed.status, 422)
        const added = yield* send(add, key)
        assert.deepStrictEqual([added.status, added.at("data.quantity")], [201, 1])
      }))
  })

  it.effect("a second request gets 409 while the first one runs, and then its answer", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const body = { entityId: yield* aProduct(), quantity: 1 }
      const add: Unsafe = { method: "POST", path: `/api/carts/${cart.id}/items`, call: { headers: cart.headers, body } }
      const key = randomUUID()
      const latch = Deferred.makeUnsafe<void>()
      let waiting = false
      beforeAddItem = Effect.suspend(() => {
        waiting = true
        return Deferred.await(latch)
      })
      const first = yield* Effect.forkChild(send(add, key))
      yield* Effect.promise(() => waitFor("the first request to run", () => waiting))
      const second = yield* send(add, key)
      beforeAddItem = Effect.void
      yield* Deferred.succeed(latch, undefined)
      const answer = yield* Fiber.join(first)
      refused(second, 409, "CONFLICT")
      assert.match(second.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
      assert.deepStrictEqual([answer.status, answer.at("data.quantity")], [201, 1])
      repeated(answer, yield* send(add, key))
    }))

  for (const key of ["", "k".repeat(256), "two words", "schlüssel"]) {
    it.effect(`the key ${JSON.stringify(key.slice(0, 12))} of ${key.length} characters is refused`, () =>
      Effect.gen(function*() {
        const warehouse = admin("POST", "/api/inventory/warehouses", { name: "House", code: word() })
        refused(yield* send(warehouse, key), 422, "VALIDATION_FAILED")
      }))
  }
})
