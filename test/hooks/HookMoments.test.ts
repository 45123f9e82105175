import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import type { AfterCall, BeforeCall, Hook, HookCall } from "../../src/domain/platform/hooks/Hook.ts"
import type { AfterHooks, BeforeHooks } from "../../src/domain/platform/hooks/HookMap.ts"
import { imported, jsonl } from "../import-export/ImportFixtures.ts"
import { addTo, aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, at, type Call, live, testAppLayer } from "../support/TestApp.ts"

type FixedBefore = Exclude<keyof BeforeHooks, `catalog.${string}.${string}`>
type FixedAfter = Exclude<keyof AfterHooks, `catalog.${string}.${string}`>
type OfType = `catalog.<type>.${"before" | "after"}${"Create" | "Update" | "Delete" | "Read" | "List"}`

/** Every key of the core with its kind of operation; it does not compile unless its keys equal those that modules declare. */
const hookOperations: Readonly<Record<FixedBefore | FixedAfter | OfType, string>> = {
  "catalog.beforeCreate": "create",
  "catalog.<type>.beforeCreate": "create",
  "catalog.afterCreate": "create",
  "catalog.<type>.afterCreate": "create",
  "catalog.beforeUpdate": "update",
  "catalog.<type>.beforeUpdate": "update",
  "catalog.afterUpdate": "update",
  "catalog.<type>.afterUpdate": "update",
  "catalog.beforeDelete": "delete",
  "catalog.<type>.beforeDelete": "delete",
  "catalog.afterDelete": "delete",
  "catalog.<type>.afterDelete": "delete",
  "catalog.beforeRead": "read",
  "catalog.<type>.beforeRead": "read",
  "catalog.afterRead": "read",
  "catalog.<type>.afterRead": "read",
  "catalog.beforeList": "list",
  "catalog.<type>.beforeList": "list",
  "catalog.afterList": "list",
  "catalog.<type>.afterList": "list",
  "catalog.beforeCategorize": "categorize",
  "catalog.beforeCommit": "commit",
  "cart.beforeAddItem": "addItem",
  "cart.afterAddItem": "addItem",
  "cart.beforeUpdateQuantity": "update",
  "cart.afterUpdateQuantity": "update",
  "cart.beforeRemoveItem": "removeItem",
  "cart.afterRemoveItem": "removeItem",
  "checkout.beforePayment": "create",
  "checkout.beforeCreate": "create",
  "checkout.afterCreate": "create",
  "orders.beforeCreate": "create",
  "orders.afterCreate": "create",
  "orders.beforeStatusChange": "statusChange",
  "orders.afterStatusChange": "statusChange",
  "orders.afterGet": "read",
  "inventory.afterAdjust": "update",
  "pricing.afterCreate": "create",
  "pricing.afterUpdate": "update",
  "promotions.afterCreate": "create",
  "promotions.afterUpdate": "update",
  "fulfillment.afterCreate": "create",
  "customers.afterCreate": "create",
  "customers.afterUpdate": "update"
}

interface Heard {
  readonly operation: string
  readonly data: unknown
  readonly result: unknown
  readonly call: HookCall
}

const heard = new Map<string, Array<Heard>>()

const names = Object.keys(hookOperations)
const hooks = names.map((name): Hook => ({
  key: name.replace("<type>", "course"),
  handler: (call: BeforeCall | AfterCall) => {
    const result = "result" in call ? call.result : undefined
    const recorded = { operation: call.operation, data: call.data, result, call }
    heard.set(name, [...(heard.get(name) ?? []), recorded])
  }
}))

const done = Effect.fnUntraced(function*(method: string, path: string, call: Call = { as: asAdmin }) {
  const answer = yield* api(method, `/api${path}`, call)
  assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer
})

const asked = (method: string, path: string, body: object) => done(method, path, { as: asAdmin, body })

const manageCatalog = Effect.fnUntraced(function*(entityId: string) {
  const path = `/catalog/entities/${entityId}`
  yield* asked("PATCH", path, { metadata: { shelf: 1 } })
  yield* asked("PUT", `${path}/attributes/de`, { title: "Kurs", subtitle: "Neu" })
  yield* asked("PUT", `${path}/attributes/de`, { title: "Kurs", subtitle: "Alt" })
  yield* done("GET", path)
  yield* done("GET", "/catalog/entities?type=course")
  const other = yield* asked("POST", "/catalog/entities", { type: "course", slug: "never-sold" })
  const category = yield* asked("POST", "/catalog/categories", { slug: "courses" })
  yield* done("POST", `/catalog/entities/${other.text("data.id")}/categories/${category.text("data.id")}`)
  yield* imported(jsonl({ type: "course", slug: "imported" }), { type: "application/x-ndjson" })
  yield* done("DELETE", `/catalog/entities/${other.text("data.id")}`)
})

const managePrices = Effect.fnUntraced(function*(entityId: string) {
  yield* asked("POST", "/pricing/prices", { entityId, currency: "USD", amount: 900 })
  const promotion = { code: "HOOKED", name: "Hooked", type: "percentage_off_order", value: 10 }
  const made = yield* asked("POST", "/promotions", promotion)
  yield* asked("PATCH", `/promotions/${made.text("data.id")}`, { value: 11 })
})

const buy = Effect.fnUntraced(function*(entityId: string) {
  const cart = yield* aGuestCart()
  const headers = cart.headers
  const added = yield* addTo(cart, entityId, 1)
  const line = `/carts/${cart.id}/items/${added.text("data.id")}`
  yield* done("PATCH", line, { headers, body: { quantity: 2 } })
  yield* done("DELETE", line, { headers })
  yield* putInto(cart, entityId, 1)
  const order = yield* checkOut(cart)
  assert.strictEqual(order.status, 201, JSON.stringify(order.body))
  const path = `/orders/${order.text("data.id")}`
  yield* done("GET", path)
  yield* asked("PATCH", `${path}/status`, { status: "confirmed", reason: "paid" })
})

/** The last time that a key was fired. */
const last = (name: string) => {
  const recorded = heard.get(name)?.at(-1)
  if (recorded === undefined) throw new Error(`${name} was not fired`)
  return recorded
}

layer(testAppLayer({ hooks }), live)("a walk through the API", (it) => {
  it.effect("fires every key of the contract, with the operation that the table says", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ type: "course" })
      // What is counted is restocked.
      yield* aProduct()
      yield* manageCatalog(entityId)
      yield* managePrices(entityId)
      yield* done("POST", "/carts", { as: asCustomer("hooked"), body: { currency: "USD" } })
      yield* done("PATCH", "/me/profile", { as: asCustomer("hooked"), body: { phone: "1" } })
      yield* buy(entityId)
      assert.deepStrictEqual(names.filter((name) => !heard.has(name)), [])
      for (const [name, operation] of Object.entries(hookOperations)) {
        for (const recorded of heard.get(name) ?? []) assert.strictEqual(recorded.operation, operation, name)
      }
    }))

  it.effect("tells after-hooks of a change what was there before it, and which words changed", () =>
    Effect.sync(() => {
      const [patched, , words] = heard.get("catalog.afterUpdate") ?? []
      assert.deepStrictEqual([at(patched?.data, "metadata"), at(patched?.result, "metadata")], [{}, { shelf: 1 }])
      assert.deepStrictEqual(words?.call.context.changedFieldPaths, ["attributes.de.subtitle"])
      assert.strictEqual(at(words?.data, "id"), at(words?.result, "id"))
      const moved = last("cart.afterUpdateQuantity")
      assert.deepStrictEqual([at(moved.data, "quantity"), at(moved.result, "quantity")], [1, 2])
      const confirmed = last("orders.afterStatusChange")
      assert.deepInclude(confirmed.data, { fromStatus: "pending", newStatus: "confirmed", reason: "paid" })
      assert.strictEqual(at(confirmed.result, "lineItems.0.quantity"), 1)
      assert.strictEqual(last("checkout.afterCreate").data, null)
    }))

  it.effect("gives each of them actor, request, services and database; the adjustment's stands in its transaction", () =>
    Effect.sync(() => {
      for (const [name, [recorded]] of heard) {
        const { context } = recorded?.call ?? last(name).call
        assert.strictEqual(context.actor.organizationId, "org_default", name)
        assert.strictEqual(context.requestId, context.actor.requestId, name)
        assert.isFunction(context.services.catalog.get, name)
        assert.isFunction(context.db.withTransaction, name)
        assert.strictEqual(context.tx !== null, ["inventory.afterAdjust", "catalog.beforeCommit"].includes(name), name)
        assert.strictEqual(context.context.moduleName, name.slice(0, name.indexOf(".")), name)
      }
    }))
})

const document = readFileSync(new URL("../../docs/plugins.md", import.meta.url), "utf8")

/** Rows of the table of keys: key, operation, what it gets, when it fires. */
const rows = [...document.matchAll(/^\| `([\w.<>]+)` \| `(\w+)` \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, ...cells]) =>
  cells.map((cell) => cell.trim())
)

it("docs/plugins.md lists every key of the core and no other, with its operation and when it fires", () => {
  assert.deepStrictEqual(
    rows.map(([key, operation]) => [key, operation]),
    Object.entries(hookOperations)
  )
  assert.deepStrictEqual(rows.filter(([, , , fires]) => fires === ""), [])
})
