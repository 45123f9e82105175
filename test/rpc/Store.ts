import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aGuestCart, aProduct, aWarehouse, checkOut } from "../support/Purchase.ts"
import { api, asAdmin } from "../support/TestApp.ts"

const aFailedJob = Effect.gen(function*() {
  const id = randomUUID()
  yield* onDatabase((sql) =>
    sql`insert into commerce_jobs (id, organization_id, queue, task_slug, input, status, attempts, max_attempts, error)
      values (${id}::uuid, 'org_default', 'default', 'unknown/task', '{}', 'failed', 1, 1, 'broken')`
  )
  return id
})

/** One of everything that calls are about, of the default organization. */
export const aStore = Effect.gen(function*() {
  const entityId = yield* aProduct()
  const warehouseId = yield* aWarehouse()
  const cart = yield* aGuestCart()
  const order = yield* checkOut(yield* aCartWith(entityId))
  const customer = yield* api("POST", "/api/customers", { as: asAdmin, body: { email: "ada@example.com" } })
  const line = yield* api("POST", `/api/carts/${cart.id}/items`, {
    headers: cart.headers,
    body: { entityId, quantity: 1 }
  })
  return {
    entityId,
    warehouseId,
    cart,
    itemId: line.text("data.id"),
    orderId: order.text("data.id"),
    customerId: customer.text("data.id"),
    jobId: yield* aFailedJob
  }
})

export type Store = Effect.Success<typeof aStore>

/** What a call is sent in these tests. */
export interface Sample {
  readonly payload: unknown
  /** Headers beside those of the caller. */
  readonly headers?: Readonly<Record<string, string>>
  /** It names a record: another organization's reads as not found. */
  readonly names?: true
}

let made = 0
const fresh = (word: string) => `${word}-${++made}`

/** A call that succeeds for each of the service's; in this order, since some need what others left. */
export const samples = (store: Store): Readonly<Record<string, Sample>> => {
  const { cart, customerId, entityId, itemId, jobId, orderId, warehouseId } = store
  const units = { entityId, warehouseId, quantity: 1, orderId: "by-hand" }
  return {
    "catalog.list": { payload: { limit: 5, include: "pricing" } },
    "catalog.stream": { payload: {} },
    "catalog.read": { payload: { idOrSlug: entityId }, names: true },
    "catalog.create": { payload: { type: "product", slug: fresh("made") } },
    "catalog.update": { payload: { id: entityId, change: { metadata: { seen: true } } }, names: true },
    "catalog.publish": { payload: { id: entityId }, names: true },
    "catalog.setAttributes": { payload: { id: entityId, locale: "de", change: { title: "Becher" } }, names: true },
    "catalog.readAttributes": { payload: { id: entityId, locale: "de" }, names: true },
    "carts.create": { payload: { currency: "USD" } },
    "carts.read": { payload: { id: cart.id }, headers: cart.headers, names: true },
    "carts.change": { payload: { id: cart.id, change: { note: "Ring twice." } }, headers: cart.headers, names: true },
    "carts.quote": { payload: { id: cart.id, change: { note: "Ring twice." } }, headers: cart.headers, names: true },
    "carts.addItem": {
      payload: { cartId: cart.id, item: { entityId, quantity: 2 } },
      headers: cart.headers,
      names: true
    },
    "carts.setQuantity": { payload: { cartId: cart.id, itemId, quantity: 3 }, headers: cart.headers, names: true },
    "carts.checkout": {
      payload: { cartId: cart.id, currency: "USD", paymentMethodId: "test" },
      headers: cart.headers,
      names: true
    },
    "orders.list": { payload: { status: "pending" } },
    "orders.stream": { payload: {} },
    "orders.read": { payload: { idOrNumber: orderId }, names: true },
    "orders.changeStatus": { payload: { id: orderId, status: "confirmed", reason: "seen" }, names: true },
    "orders.fulfillments": { payload: { id: orderId }, names: true },
    "inventory.check": { payload: { entityIds: [entityId] } },
    "inventory.levels": { payload: { entityId } },
    "inventory.stream": { payload: {} },
    "inventory.adjust": { payload: { entityId, warehouseId, adjustment: 5 }, names: true },
    "inventory.reserve": { payload: units, names: true },
    "inventory.release": { payload: units, names: true },
    "inventory.createWarehouse": { payload: { name: "Second", code: fresh("W") } },
    "inventory.warehouses": { payload: {} },
    "customers.list": { payload: {} },
    "customers.stream": { payload: undefined },
    "customers.create": { payload: { email: `${fresh("grace")}@example.com` } },
    "customers.read": { payload: { id: customerId }, names: true },
    "customers.change": { payload: { id: customerId, change: { firstName: "Ada" } }, names: true },
    "jobs.enqueue": { payload: { task: "tests/own", input: { a: 1 } } },
    "jobs.failed": { payload: {} },
    "jobs.stream": { payload: undefined },
    "jobs.retry": { payload: { id: jobId }, names: true },
    "events.list": { payload: { limit: 3 } },
    "catalog.archive": { payload: { id: entityId }, names: true },
    "catalog.discontinue": { payload: { id: entityId }, names: true }
  }
}

/** Calls that the list above does not make: the first destroys what others need, the second never ends. */
export const apart = ["carts.removeItem", "catalog.remove", "events.tail"]
