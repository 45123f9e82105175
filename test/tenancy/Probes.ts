import type { Store } from "./Stores.ts"

/** The name of a record of a store, as it stands in braces in a request. */
export type RecordName = Exclude<keyof Store, "as">

/** A request about records of a store, which its path and body name in braces. */
export interface Probe {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>> | undefined
}

const probe = (method: string, path: string, body?: Probe["body"]): Probe => ({ method, path, body })

const everything = "attributes,variants,categories,brands,inventory,pricing,optionTypes"

/** Every route that reads. */
export const reads: ReadonlyArray<Probe> = [
  probe("GET", `/api/catalog/entities?include=${everything}`),
  probe("GET", "/api/catalog/entities?category={category}"),
  probe("GET", "/api/catalog/entities?brand={brand}"),
  probe("GET", "/api/catalog/entities?category=things&brand=maker"),
  probe("GET", `/api/catalog/entities/{entity}?include=${everything}`),
  probe("GET", `/api/catalog/entities/thing?include=${everything}`),
  probe("GET", "/api/catalog/entities/{entity}/attributes/en"),
  probe("GET", "/api/catalog/categories"),
  probe("GET", "/api/catalog/categories?page=1"),
  probe("GET", "/api/catalog/brands"),
  probe("GET", "/api/catalog/brands?page=1"),
  probe("GET", "/api/pricing/prices"),
  probe("GET", "/api/pricing/prices?entityId={entity}"),
  probe("GET", "/api/pricing/modifiers"),
  probe("GET", "/api/pricing/modifiers?entityId={entity}"),
  probe("GET", "/api/promotions?status=all"),
  probe("GET", "/api/inventory/check?entityIds={entity}"),
  probe("GET", "/api/inventory/levels"),
  probe("GET", "/api/inventory/levels?warehouseId={warehouse}"),
  probe("GET", "/api/inventory/warehouses"),
  probe("GET", "/api/carts/{cart}"),
  probe("GET", "/api/orders"),
  probe("GET", "/api/orders?status=confirmed"),
  probe("GET", "/api/orders/{order}"),
  probe("GET", "/api/orders/{orderNumber}"),
  probe("GET", "/api/orders/{order}/fulfillments"),
  probe("GET", "/api/webhooks"),
  probe("GET", "/api/webhooks/{endpoint}"),
  probe("GET", "/api/webhooks/{endpoint}/deliveries"),
  probe("GET", "/api/admin/jobs/failed"),
  probe("GET", "/api/admin/api-keys"),
  probe("GET", "/api/admin/staff"),
  probe("GET", "/api/admin/staff/invitations"),
  probe("GET", "/api/events?limit=100"),
  probe("GET", "/api/audit?limit=100"),
  probe("GET", "/api/audit?entityId={entity}"),
  probe("GET", "/api/audit/order/{order}")
]

const entity = "/api/catalog/entities/{entity}"
const category = "/api/catalog/categories/{category}"

/** Every route that writes to a record or names one, in an order in which a store can do them one after the other. */
export const writes: ReadonlyArray<Probe> = [
  probe("PATCH", entity, { metadata: { a: 1 } }),
  probe("PUT", `${entity}/attributes/en`, { title: "Changed" }),
  probe("POST", `${entity}/options`, { name: "Colour", values: ["Red"] }),
  probe("POST", "/api/catalog/options/{optionType}/values", { value: "M" }),
  probe("POST", `${entity}/variants`, { options: { Size: "M", Colour: "Red" } }),
  probe("POST", `${entity}/variants/generate`, { mode: "all" }),
  probe("POST", `${entity}/publish`),
  probe("POST", "/api/catalog/categories", { slug: "below", parentId: "{category}" }),
  probe("PATCH", category, { sortOrder: 3 }),
  probe("PATCH", category, { parentId: "{parent}" }),
  probe("POST", `${category}/archive`),
  probe("POST", `${category}/restore`),
  probe("PATCH", "/api/catalog/brands/{brand}", { displayName: "Changed" }),
  probe("POST", `${entity}/categories/{category}`),
  probe("POST", `${entity}/brands/{brand}`),
  probe("POST", "/api/pricing/prices", { entityId: "{entity}", currency: "USD", amount: 5 }),
  probe("POST", "/api/pricing/prices", {
    entityId: "{entity}",
    variantId: "{variant}",
    currency: "USD",
    amount: 5
  }),
  probe("POST", "/api/pricing/modifiers", {
    name: "Off",
    type: "percentage_discount",
    value: 5,
    entityId: "{entity}",
    variantId: "{variant}"
  }),
  probe("POST", "/api/pricing/modifiers", {
    name: "Off",
    type: "percentage_discount",
    value: 5,
    variantId: "{variant}"
  }),
  probe("PATCH", "/api/pricing/modifiers/{modifier}", { value: 6 }),
  probe("PATCH", "/api/pricing/modifiers/{modifier}", { entityId: "{entity}", value: 7 }),
  probe("PATCH", "/api/promotions/{promotion}", { name: "Changed" }),
  probe("POST", "/api/inventory/adjust", {
    entityId: "{entity}",
    variantId: "{variant}",
    warehouseId: "{warehouse}",
    type: "restock",
    quantity: 1
  }),
  probe("POST", "/api/inventory/reserve", {
    entityId: "{entity}",
    variantId: "{variant}",
    warehouseId: "{warehouse}",
    quantity: 1,
    orderId: "A-1"
  }),
  probe("POST", "/api/inventory/release", {
    // The thing that was reserved: a variant, else an entity. Beside a variant the entity is not looked at.
    entityId: "{variant}",
    quantity: 1,
    orderId: "{order}"
  }),
  probe("POST", "/api/carts", { currency: "USD", customerId: "{customer}" }),
  probe("PATCH", "/api/carts/{cart}/items/{item}", { quantity: 4 }),
  probe("DELETE", "/api/carts/{cart}/items/{item}"),
  probe("POST", "/api/carts/{cart}/items", { entityId: "{entity}", variantId: "{variant}", quantity: 1 }),
  probe("POST", "/api/checkout", { cartId: "{cart}", paymentMethodId: "test", currency: "USD" }),
  probe("PATCH", "/api/orders/{order}/status", { status: "cancelled" }),
  probe("POST", "/api/promotions/{promotion}/deactivate"),
  probe("DELETE", "/api/pricing/modifiers/{modifier}"),
  probe("DELETE", `${entity}/categories/{category}`),
  probe("DELETE", `${entity}/brands/{brand}`),
  probe("DELETE", category),
  probe("DELETE", "/api/catalog/brands/{brand}"),
  probe("POST", `${entity}/archive`),
  probe("POST", `${entity}/discontinue`),
  probe("PATCH", "/api/webhooks/{endpoint}", { description: "Changed" }),
  probe("POST", "/api/webhooks/{endpoint}/rotate-secret", {}),
  probe("POST", "/api/webhooks/{endpoint}/test"),
  probe("POST", "/api/webhooks/deliveries/{delivery}/redeliver"),
  probe("DELETE", "/api/webhooks/{endpoint}"),
  probe("POST", "/api/admin/jobs/{job}/retry"),
  probe("DELETE", "/api/admin/api-keys/{apiKey}"),
  probe("PATCH", "/api/admin/staff/{member}", { role: "customer" }),
  probe("DELETE", "/api/admin/staff/{member}")
]

/** Something that was sold is never deleted, so this is refused by its own store too. */
export const refusedAnyway = probe("DELETE", entity)

/** Routes that name no record. A provider's event says itself whose order it is about (Webhook.test.ts). */
export const nameless: ReadonlySet<string> = new Set([
  "GET /api/health",
  "GET /api/ready",
  "GET /health/live",
  "GET /health/ready",
  "GET /metrics",
  "GET /api/metrics",
  "GET /api/jobs/run",
  "POST /api/jobs/run",
  "POST /api/payments/webhook",
  "POST /api/catalog/entities",
  "POST /api/catalog/brands",
  "POST /api/promotions",
  "POST /api/promotions/validate",
  "POST /api/inventory/warehouses",
  "POST /api/webhooks",
  "GET /api/admin/permissions",
  "GET /api/admin/staff/roles",
  // A user is nobody's: he may be a member of several organizations (Staff.test.ts).
  "POST /api/admin/staff",
  "POST /api/admin/staff/invitations"
])

/** Does the probe ask this route? Its path is written with a colon before each parameter. */
export const asks = ({ method, path }: Probe, route: { readonly method: string; readonly path: string }): boolean =>
  method === route.method &&
  new RegExp(`^${route.path.replace(/:[^/]+/g, "[^/]+")}$`).test(path.split("?")[0] ?? "")

const braces = /\{(\w+)\}/g

const isName = (text: string, store: Store): text is RecordName => text !== "as" && text in store

/** The records that a request names. */
export const namesIn = ({ body, path }: Probe, store: Store): ReadonlyArray<RecordName> =>
  [...new Set([...`${path} ${JSON.stringify(body ?? {})}`.matchAll(braces)].map(([, name = ""]) => name))]
    .filter((name) => isName(name, store))

/** The request with the ids of a store's records in place of their names. */
export const filled = ({ body, method, path }: Probe, store: Store): Probe => {
  const fill = (text: string) => text.replace(braces, (_, name: string) => isName(name, store) ? store[name] : name)
  return { method, path: fill(path), body: body && JSON.parse(fill(JSON.stringify(body))) }
}
