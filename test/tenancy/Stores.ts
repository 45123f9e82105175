import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../checkout/ShopFloor.ts"
import { api, asAdmin, asCustomer, inOrganization } from "../support/TestApp.ts"

/** A store with one record of everything, as the ids that name them; `as` is its administrator. */
export interface Store {
  readonly as: typeof asAdmin
  readonly entity: string
  readonly optionType: string
  readonly optionValue: string
  readonly variant: string
  readonly category: string
  /** A category above it. */
  readonly parent: string
  readonly brand: string
  readonly price: string
  readonly modifier: string
  readonly promotion: string
  readonly warehouse: string
  readonly customer: string
  /** An open cart of nobody in particular, so that any staff may serve it, with a line in it. */
  readonly cart: string
  readonly item: string
  /** A paid order with a promotion, stock reserved by hand beside its own, and a fulfillment. */
  readonly order: string
  readonly orderNumber: string
  /** A webhook endpoint, and an attempt to deliver an event to it. */
  readonly endpoint: string
  readonly delivery: string
  /** A background job that failed. */
  readonly job: string
  /** An API key of the role staff. */
  readonly apiKey: string
  /** A member with the role staff. */
  readonly member: string
}

/** A body that the API must accept; the id of what it made. */
const make = Effect.fnUntraced(function*(as: typeof asAdmin, path: string, body: object) {
  const made = yield* api("POST", path, { as, body })
  if (made.status >= 300) {
    return yield* Effect.die(new Error(`POST ${path}: ${made.status} ${JSON.stringify(made.body)}`))
  }
  return made
})

/** A customer's purchase of one unit with the store's promotion. */
const buy = Effect.fnUntraced(function*(as: typeof asAdmin, item: object) {
  const cart = yield* make(as, "/api/carts", { currency: "USD" })
  const cartId = cart.text("data.id")
  yield* make(as, `/api/carts/${cartId}/items`, { ...item, quantity: 1 })
  const request = { cartId, paymentMethodId: "test", currency: "USD", promotionCodes: ["SAVE"] }
  const order = yield* make(as, "/api/checkout", request)
  return {
    customer: cart.text("data.customerId"),
    order: order.text("data.id"),
    orderNumber: order.text("data.orderNumber")
  }
})

/** What the catalog of a store has: slugs, names and codes are the same in every store. */
const aCatalog = Effect.fnUntraced(function*(as: typeof asAdmin) {
  const body = { type: "product", slug: "thing", status: "active", attributes: { title: "Thing" } }
  const entity = (yield* make(as, "/api/catalog/entities", body)).text("data.id")
  const at = `/api/catalog/entities/${entity}`
  const optionType = (yield* make(as, `${at}/options`, { name: "Size" })).text("data.id")
  const value = yield* make(as, `/api/catalog/options/${optionType}/values`, { value: "S" })
  const variant = (yield* make(as, `${at}/variants`, { options: { Size: "S" }, sku: "THING-S" })).text("data.id")
  const parent = (yield* make(as, "/api/catalog/categories", { slug: "all" })).text("data.id")
  const below = { slug: "things", parentId: parent }
  const category = (yield* make(as, "/api/catalog/categories", below)).text("data.id")
  const brand = (yield* make(as, "/api/catalog/brands", { slug: "maker", displayName: "Maker" })).text("data.id")
  yield* make(as, `${at}/categories/${category}`, {})
  yield* make(as, `${at}/brands/${brand}`, {})
  return { entity, optionType, optionValue: value.text("data.id"), variant, category, parent, brand }
})

/** A webhook endpoint whose host nobody finds, and a delivery that failed for that. */
const anEndpoint = Effect.fnUntraced(function*(as: typeof asAdmin, organization: string) {
  const sent = { url: "https://receiver.invalid/hook", events: ["orders.create"] }
  const endpoint = (yield* make(as, "/api/webhooks", sent)).text("data.id")
  const [delivery, event] = [randomUUID(), randomUUID()]
  yield* onDatabase((sql) =>
    sql`with message as (insert into webhook_messages (organization_id, event_id, type, entity_type, entity_id, sequence,
        body, event_at, created_at)
      values (${organization}, ${event}::uuid, 'orders.create', 'order', 'x', 1, '{}', now(), now()))
      insert into webhook_deliveries (organization_id, id, endpoint_id, event_id, event_name, attempt_count, duration_ms,
        error, failed_at, created_at)
      values (${organization}, ${delivery}::uuid, ${endpoint}::uuid, ${event}::uuid, 'orders.create', 1, 5, 'not found',
        now(), now())`
  )
  return { endpoint, delivery }
})

const anApiKey = Effect.fnUntraced(function*(organization: string) {
  const id = randomUUID()
  yield* onDatabase((sql) =>
    sql`insert into api_keys (id, name, key, reference_id, organization_id, role)
      values (${id}::uuid, 'Key', ${id}, ${organization}, ${organization}, 'staff')`
  )
  return id
})

const aMember = Effect.fnUntraced(function*(organization: string) {
  const id = randomUUID()
  yield* onDatabase((sql) =>
    sql`with somebody as (insert into users (name, email) values ('Member', ${`${id}@example.com`}) returning id)
      insert into members (id, organization_id, user_id, role)
      select ${id}::uuid, ${organization}, id, 'staff' from somebody`
  )
  return id
})

/** Fills an organization with one record of everything; `buyer` is the user who bought something. */
export const aStore = Effect.fnUntraced(function*(organization: string, buyer = "buyer") {
  yield* onDatabase((sql) =>
    sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, ${organization})
      on conflict do nothing`
  )
  const as = inOrganization(organization, asAdmin)
  const catalog = yield* aCatalog(as)
  const { entity, variant } = catalog
  const item = { entityId: entity, variantId: variant }
  const price = yield* make(as, "/api/pricing/prices", { ...item, currency: "USD", amount: 1_000 })
  const reduction = { name: "Sale", type: "percentage_discount", value: 10, entityId: entity }
  const modifier = yield* make(as, "/api/pricing/modifiers", reduction)
  const saving = { code: "SAVE", name: "Save", type: "percentage_off_order", value: 10, usageLimitPerCustomer: 5 }
  const promotion = yield* make(as, "/api/promotions", saving)
  const warehouse = (yield* make(as, "/api/inventory/warehouses", { name: "Main", code: "MAIN" })).text("data.id")
  yield* make(as, "/api/inventory/adjust", { ...item, warehouseId: warehouse, type: "restock", quantity: 50 })
  const bought = yield* buy(inOrganization(organization, asCustomer(buyer)), item)
  yield* make(as, "/api/inventory/reserve", { ...item, quantity: 3, orderId: bought.order })
  const cart = (yield* make(as, "/api/carts", { currency: "USD" })).text("data.id")
  const line = yield* make(as, `/api/carts/${cart}/items`, { ...item, quantity: 2 })
  yield* onDatabase((sql) =>
    sql`with made as (insert into fulfillments (id, organization_id, order_id, type, status)
        values (gen_random_uuid(), ${organization}, ${bought.order}::uuid, 'physical', 'shipped') returning id)
      insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
      select ${organization}, made.id, l.id, 1 from made, order_lines l where l.order_id = ${bought.order}::uuid`
  )
  const [failed] = yield* onDatabase((sql) =>
    sql<{ id: string }>`insert into commerce_jobs (id, organization_id, task_slug, status, error, completed_at)
      values (gen_random_uuid(), ${organization}, 'test/none', 'failed', 'no', now()) returning id`
  )
  const store: Store = {
    as,
    ...catalog,
    price: price.text("data.id"),
    modifier: modifier.text("data.id"),
    promotion: promotion.text("data.id"),
    warehouse,
    cart,
    item: line.text("data.id"),
    ...(yield* anEndpoint(as, organization)),
    job: failed?.id ?? "",
    apiKey: yield* anApiKey(organization),
    member: yield* aMember(organization),
    ...bought
  }
  return store
})
