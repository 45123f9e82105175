import { Effect } from "effect"
import type { EventType, Subject } from "../../src/domain/platform/events/Event.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { type Answer, api, type Call, type TestApp } from "../support/TestApp.ts"

/** The actor a cause acts as: signed in, of one organization. */
export type Who = NonNullable<Call["as"]>

/** A request that is ready to be sent, and the record it will be about, where the answer does not say so. */
export interface Ready {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly about?: string
}

/** A request that causes an event of the specification (§6). */
export interface Cause {
  readonly name: string
  readonly event: EventType
  readonly entityType: Subject
  /** Makes everything that the request needs, as the given actor. */
  readonly prepare: (as: Who) => Effect.Effect<Ready, never, TestApp>
  /** Kind of actor that asks for it; default `user`. A user who touches a cart gets a profile, which is another event. */
  readonly by?: "api_key"
  /** A field of the record and its value before and after, where the request changes one. */
  readonly changes?: { readonly field: string; readonly before: unknown; readonly after: unknown }
}

const made = Effect.fnUntraced(function*(as: Who, path: string, body: object) {
  const answer = yield* api("POST", path, { as, body })
  if (answer.status >= 300) {
    return yield* Effect.die(new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`))
  }
  return answer
})

const idOf = (answer: Answer) => answer.text("data.id")

const anEntity = (as: Who, body: object = {}) =>
  Effect.map(
    made(as, "/api/catalog/entities", { type: "product", slug: newId(), attributes: { title: "Thing" }, ...body }),
    idOf
  )

/** Something that can be bought; other types than products are not counted. */
const aProduct = Effect.fnUntraced(function*(as: Who, type = "product") {
  const entityId = yield* anEntity(as, { type, status: "active" })
  yield* made(as, "/api/pricing/prices", { entityId, currency: "USD", amount: 1_000 })
  if (type !== "product") return entityId
  const warehouse = yield* made(as, "/api/inventory/warehouses", { name: "Depot", code: newId() })
  const stock = { entityId, warehouseId: idOf(warehouse), type: "restock", quantity: 10 }
  yield* made(as, "/api/inventory/adjust", stock)
  return entityId
})

const aCart = Effect.fnUntraced(function*(as: Who, type?: string) {
  const entityId = yield* aProduct(as, type)
  const cartId = idOf(yield* made(as, "/api/carts", { currency: "USD" }))
  return { entityId, cartId }
})

const aFullCart = Effect.fnUntraced(function*(as: Who, type?: string) {
  const { cartId, entityId } = yield* aCart(as, type)
  yield* made(as, `/api/carts/${cartId}/items`, { entityId, quantity: 1 })
  return cartId
})

const checkout = (cartId: string): Ready => ({
  method: "POST",
  path: "/api/checkout",
  body: { cartId, paymentMethodId: "test", currency: "USD" }
})

const anOrder = Effect.fnUntraced(function*(as: Who) {
  const { body = {}, path } = checkout(yield* aFullCart(as))
  return idOf(yield* made(as, path, body))
})

const aPromotion = (as: Who) =>
  Effect.map(made(as, "/api/promotions", promotion()), (answer) => `/api/promotions/${idOf(answer)}`)

const promotion = () => ({ code: newId(), name: "Ten off", type: "percentage_off_order", value: 10 })

const lastOf = (path: string) => path.slice(path.lastIndexOf("/") + 1)

const catalog = (
  name: string,
  event: EventType,
  request: (path: string) => Omit<Ready, "about">,
  changes?: Cause["changes"]
): Cause => ({
  name,
  event,
  entityType: "catalog_entity",
  ...(changes && { changes }),
  prepare: (as) =>
    Effect.map(anEntity(as, { metadata: { colour: "red" } }), (id) => ({
      ...request(`/api/catalog/entities/${id}`),
      about: id
    }))
})

const catalogCauses: ReadonlyArray<Cause> = [
  {
    name: "creating an entity",
    event: "catalog.create",
    entityType: "catalog_entity",
    prepare: () =>
      Effect.succeed({
        method: "POST",
        path: "/api/catalog/entities",
        body: { type: "product", slug: newId(), attributes: { title: "Thing" } }
      })
  },
  catalog(
    "changing an entity",
    "catalog.update",
    (path) => ({ method: "PATCH", path, body: { metadata: { colour: "blue" } } }),
    { field: "metadata.colour", before: "red", after: "blue" }
  ),
  catalog("changing the words of an entity", "catalog.update", (path) => ({
    method: "PUT",
    path: `${path}/attributes/en`,
    body: { title: "Another thing" }
  })),
  ...([["publish", "active"], ["archive", "archived"], ["discontinue", "discontinued"]] as const).map(([verb, after]) =>
    catalog(`to ${verb} an entity`, "catalog.update", (path) => ({ method: "POST", path: `${path}/${verb}` }), {
      field: "status",
      before: "draft",
      after
    })
  ),
  catalog("deleting an entity", "catalog.delete", (path) => ({ method: "DELETE", path }))
]

const price = (entityId: string, amount: number): Ready => ({
  method: "POST",
  path: "/api/pricing/prices",
  body: { entityId, currency: "USD", amount }
})

const modifier = { name: "Sale", type: "percentage_discount", value: 10 }

const aModifier = (as: Who) =>
  Effect.map(made(as, "/api/pricing/modifiers", modifier), (answer) => `/api/pricing/modifiers/${idOf(answer)}`)

const pricingCauses: ReadonlyArray<Cause> = [
  {
    name: "setting a first price",
    event: "pricing.create",
    entityType: "price",
    prepare: (as) => Effect.map(anEntity(as), (id) => price(id, 1_000))
  },
  {
    name: "changing a price",
    event: "pricing.update",
    entityType: "price",
    changes: { field: "amount", before: 1_000, after: 2_000 },
    prepare: Effect.fnUntraced(function*(as) {
      const entityId = yield* anEntity(as)
      const { body = {}, path } = price(entityId, 1_000)
      yield* made(as, path, body)
      return price(entityId, 2_000)
    })
  },
  {
    name: "making a price modifier",
    event: "pricing.create",
    entityType: "price",
    prepare: () => Effect.succeed({ method: "POST", path: "/api/pricing/modifiers", body: modifier })
  },
  {
    name: "changing a price modifier",
    event: "pricing.update",
    entityType: "price",
    changes: { field: "value", before: 10, after: 20 },
    prepare: (as) => Effect.map(aModifier(as), (path) => ({ method: "PATCH", path, body: { value: 20 } }))
  },
  {
    name: "deleting a price modifier",
    event: "pricing.update",
    entityType: "price",
    prepare: (as) => Effect.map(aModifier(as), (path) => ({ method: "DELETE", path, about: lastOf(path) }))
  }
]

const promotionCauses: ReadonlyArray<Cause> = [
  {
    name: "making a promotion",
    event: "promotions.create",
    entityType: "promotion",
    prepare: () => Effect.succeed({ method: "POST", path: "/api/promotions", body: promotion() })
  },
  {
    name: "changing a promotion",
    event: "promotions.update",
    entityType: "promotion",
    changes: { field: "name", before: "Ten off", after: "A tenth off" },
    prepare: (as) => Effect.map(aPromotion(as), (path) => ({ method: "PATCH", path, body: { name: "A tenth off" } }))
  },
  {
    name: "deactivating a promotion",
    event: "promotions.update",
    entityType: "promotion",
    changes: { field: "isActive", before: true, after: false },
    prepare: (as) => Effect.map(aPromotion(as), (path) => ({ method: "POST", path: `${path}/deactivate` }))
  }
]

const customerCauses: ReadonlyArray<Cause> = [
  {
    name: "entering a customer",
    event: "customers.create",
    entityType: "customer",
    prepare: () => Effect.succeed({ method: "POST", path: "/api/customers", body: { firstName: "Ann" } })
  },
  {
    name: "changing a customer",
    event: "customers.update",
    entityType: "customer",
    changes: { field: "phone", before: null, after: "1" },
    prepare: (as) =>
      Effect.map(made(as, "/api/customers", {}), (customer) => ({
        method: "PATCH",
        path: `/api/customers/${idOf(customer)}`,
        body: { phone: "1" }
      }))
  }
]

const orderTo = (status: string): Cause => ({
  name: `an order becoming ${status}`,
  event: "orders.statusChange",
  entityType: "order",
  changes: { field: "status", before: "pending", after: status },
  prepare: (as) =>
    Effect.map(
      anOrder(as),
      (id) => ({ method: "PATCH", path: `/api/orders/${id}/status`, body: { status }, about: id })
    )
})

const orderCauses: ReadonlyArray<Cause> = [
  {
    name: "a checkout",
    event: "orders.create",
    entityType: "order",
    by: "api_key",
    prepare: (as) => Effect.map(aFullCart(as), checkout)
  },
  orderTo("confirmed"),
  orderTo("cancelled"),
  {
    name: "putting a thing into a cart",
    event: "cart.afterAddItem",
    entityType: "cart",
    by: "api_key",
    prepare: (as) =>
      Effect.map(aCart(as), ({ cartId, entityId }) => ({
        method: "POST",
        path: `/api/carts/${cartId}/items`,
        body: { entityId, quantity: 2 },
        about: cartId
      }))
  },
  {
    name: "putting more of it into a cart",
    event: "cart.afterAddItem",
    entityType: "cart",
    by: "api_key",
    prepare: Effect.fnUntraced(function*(as) {
      const { cartId, entityId } = yield* aCart(as)
      const request = { path: `/api/carts/${cartId}/items`, body: { entityId, quantity: 1 } }
      yield* made(as, request.path, request.body)
      return { method: "POST", ...request, about: cartId }
    })
  },
  {
    name: "adjusting stock",
    event: "inventory.afterAdjust",
    entityType: "inventory",
    prepare: Effect.fnUntraced(function*(as) {
      const entityId = yield* anEntity(as)
      const warehouse = yield* made(as, "/api/inventory/warehouses", { name: "Depot", code: newId() })
      const body = { entityId, warehouseId: idOf(warehouse), type: "restock", quantity: 5 }
      return { method: "POST", path: "/api/inventory/adjust", body }
    })
  }
]

/** Every way in which a request of a member of staff causes an event whose record its answer or its path names. */
export const causes: ReadonlyArray<Cause> = [
  ...catalogCauses,
  ...pricingCauses,
  ...promotionCauses,
  ...customerCauses,
  ...orderCauses
]

/** Sends the request of a cause under this request id; the answer and the id of the record it is about. */
export const bringAbout = Effect.fnUntraced(function*(cause: Cause, ready: Ready, as: Who, requestId: string) {
  const answer = yield* api(ready.method, ready.path, {
    as,
    headers: { ...ready.headers, "x-request-id": requestId },
    ...(ready.body && { body: ready.body })
  })
  if (answer.status >= 300) {
    return yield* Effect.die(new Error(`${cause.name}: ${answer.status} ${JSON.stringify(answer.body)}`))
  }
  return { answer, entityId: ready.about ?? answer.text("data.id") }
})

/** A cart of a signed-in actor with something that is handed over by download, ready for its checkout. */
export const aDigitalCart = (as: Who) => Effect.map(aFullCart(as, "digitalDownload"), checkout)
