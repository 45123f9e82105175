import type { Store } from "./Stores.ts"

/** The name of a record of a store, in braces in a request. */
export type RecordName = Exclude<keyof Store, "as" | "buyer">

/** A request about records of a store, which its path and body name in braces. */
export interface Probe {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>> | undefined
  /** Sent by the customer of the store about their own records; else by the administrator. */
  readonly own?: boolean
}

const probe = (method: string, path: string, body?: Probe["body"]): Probe => ({ method, path, body })

const mine = (method: string, path: string, body?: Probe["body"]): Probe => ({
  ...probe(method, path, body),
  own: true
})

/** A question about figures, over the records that are named. */
const figures = (
  measures: ReadonlyArray<string>,
  dimensions: ReadonlyArray<string>,
  only: Readonly<Record<string, string>> = {}
): Probe =>
  probe("POST", "/api/analytics/query", {
    measures,
    dimensions,
    filters: Object.entries(only).map(([member, id]) => ({ member, operator: "equals", values: [id] }))
  })

/** An address in the zone of a store. */
const anAddressInside = { line1: "1 Main St", city: "Austin", state: "TX", postalCode: "78701", country: "US" }

const everything = "attributes,variants,categories,brands,inventory,pricing,optionTypes,customFields"

/** Every route that reads. */
export const reads: ReadonlyArray<Probe> = [
  probe("GET", `/api/catalog/entities?include=${everything}`),
  probe("GET", "/api/catalog/entities?category={category}"),
  probe("GET", "/api/catalog/entities?brand={brand}"),
  probe("GET", "/api/catalog/entities?category=things&brand=maker"),
  probe("GET", `/api/catalog/entities/{entity}?include=${everything}`),
  probe("GET", `/api/catalog/entities/thing?include=${everything}`),
  probe("GET", "/api/catalog/entities/{entity}/attributes/en"),
  probe("GET", "/api/catalog/entities/{entity}/attributes/de?fallback=true"),
  probe("GET", "/api/catalog/entities?category={parent}&descendants=true"),
  probe("GET", `/api/catalog/entities?include=attributes&locale=de`),
  probe("GET", "/api/catalog/entities/{entity}/revisions"),
  probe("GET", "/api/catalog/entities/{entity}/revisions/1"),
  probe("GET", "/api/catalog/entities/{entity}/revisions/1/diff?from=1"),
  probe("GET", "/api/catalog/entities/{entity}/schedule"),
  probe("GET", "/api/catalog/attribute-drafts"),
  probe("GET", "/api/admin/entity-field-definitions"),
  probe("GET", "/api/admin/entity-field-definitions?entityType=product"),
  probe("GET", "/api/admin/entity-field-definitions/{field}"),
  probe("GET", "/api/catalog/categories/{category}"),
  probe("GET", "/api/catalog/categories/things"),
  probe("GET", "/api/catalog/categories/{parent}/subtree"),
  probe("GET", "/api/catalog/categories/all/subtree?depth=1"),
  probe("GET", "/api/catalog/categories"),
  probe("GET", "/api/catalog/categories?page=1"),
  probe("GET", "/api/catalog/brands"),
  probe("GET", "/api/catalog/brands?page=1"),
  probe("GET", "/api/search?q=thing&facets=type,category,brand,status,Size"),
  probe("GET", "/api/search?q=thnig"),
  probe("GET", "/api/search?type=product&facets=type,category,brand,status"),
  probe("GET", "/api/search?category=things&brand=maker&attr.Size=S"),
  probe("GET", "/api/search?type=product&attr.grade=A&facets=grade"),
  probe("GET", "/api/search?q=ding&locale=de"),
  probe("GET", "/api/search/suggest?prefix=th"),
  probe("GET", "/api/media"),
  probe("GET", "/api/media?entityId={entity}"),
  probe("GET", "/api/media/{medium}"),
  probe("GET", "/api/media/{looseMedium}?signed=true"),
  probe("GET", "/api/media/{medium}/record"),
  probe("GET", "/api/search/suggest?prefix=th&locale=de"),
  probe("GET", "/api/pricing/prices"),
  probe("GET", "/api/pricing/prices?entityId={entity}"),
  probe("GET", "/api/pricing/modifiers"),
  probe("GET", "/api/pricing/modifiers?entityId={entity}"),
  probe("GET", "/api/promotions?status=all"),
  probe("GET", "/api/shipping/zones"),
  probe("GET", "/api/shipping/zones/{zone}"),
  probe("GET", "/api/shipping/rates"),
  probe("GET", "/api/shipping/rates?zoneId={zone}"),
  probe("GET", "/api/shipping/rates/{rate}"),
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
  probe("GET", "/api/orders/{refundable}/refunds"),
  probe("GET", "/api/orders/refunds/cap?orderId={refundable}"),
  probe("GET", "/api/messages"),
  probe("GET", "/api/messages?status=sent"),
  probe("GET", "/api/orders/{order}/messages"),
  probe("GET", "/api/returns"),
  probe("GET", "/api/returns?status=requested"),
  probe("GET", "/api/orders/{order}/returns"),
  probe("GET", "/api/orders/{sent}/returns/{askedBack}"),
  mine("GET", "/api/me/orders/{order}/returns"),
  probe("GET", "/api/admin/compensation-failures"),
  probe("GET", "/api/orders/{order}/invoice.pdf"),
  probe("GET", "/api/orders/{order}/invoice.html"),
  probe("GET", "/api/orders/{order}/receipt.html"),
  probe("GET", "/api/orders/{order}/timeline"),
  probe("GET", "/api/orders/{draft}/notes"),
  mine("GET", "/api/me/orders/{order}/notes"),
  probe("GET", "/api/orders/lookup?q={orderNumber}"),
  probe("GET", "/api/customers"),
  probe("GET", "/api/customers/{customer}"),
  probe("GET", "/api/customers/{customer}/addresses"),
  probe("GET", "/api/customers/{customer}/orders"),
  probe("GET", "/api/customers/{customer}/orders?include=totals"),
  probe("GET", "/api/customers/{customer}/interactions"),
  probe("GET", "/api/customers/groups"),
  probe("GET", "/api/customers/groups/{group}"),
  probe("GET", "/api/customers/groups/{group}/members"),
  probe("GET", "/api/tax/classes"),
  probe("GET", "/api/tax/classes/{taxClass}"),
  probe("GET", "/api/tax/rates"),
  probe("GET", "/api/tax/rates/{taxRate}"),
  mine("GET", "/api/me/profile"),
  mine("GET", "/api/me/addresses"),
  mine("GET", "/api/me/orders"),
  mine("GET", "/api/me/orders/{order}"),
  mine("GET", "/api/me/orders/{orderNumber}"),
  mine("GET", "/api/me/orders/{order}/tracking"),
  mine("GET", "/api/me/orders/{order}/downloads"),
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
  probe("GET", "/api/audit/order/{order}"),
  probe("GET", "/api/imports"),
  probe("GET", "/api/imports/{upload}"),
  probe("GET", "/api/imports/{upload}/refusals"),
  probe("GET", "/api/imports/{upload}/refusals.csv"),
  probe("GET", "/api/imports/{upload}/warnings"),
  probe("GET", "/api/imports/{upload}/changes"),
  probe("GET", "/api/analytics/meta"),
  figures(["Orders.count", "Orders.revenue"], ["Orders.id", "Orders.orderNumber", "Orders.status"]),
  figures(["OrderLineItems.count", "OrderLineItems.itemsSold"], ["OrderLineItems.id", "Orders.id"]),
  figures(["Inventory.totalOnHand", "Inventory.totalReserved"], ["Inventory.entityId", "Inventory.warehouseId"]),
  figures(["Customers.customerCount", "Customers.returningCustomers"], ["Customers.createdAt"]),
  { ...figures(["Orders.count"], ["Orders.id"]), own: true },
  figures(["Inventory.totalOnHand"], ["Inventory.warehouseId"], { "Inventory.warehouseId": "{warehouse}" }),
  figures(["OrderLineItems.count"], ["Orders.id"], { "Orders.id": "{order}" }),
  figures(["Orders.count"], ["Orders.id"], { "Orders.id": "{order}" })
]

/** Exports of a store. They are recorded in its change log, so that an export changes what the audit reads. */
export const files: ReadonlyArray<Probe> = ["catalog", "categories", "brands", "prices", "stock", "customers", "orders"]
  .map((kind) => probe("GET", `/api/exports/${kind}`))

const entity = "/api/catalog/entities/{entity}"
const category = "/api/catalog/categories/{category}"
const field = "/api/admin/entity-field-definitions/{field}"

/** A variant, and the entity that it is of, as most bodies name them. */
const item = { entityId: "{entity}", variantId: "{variant}" }
const off = { name: "Off", type: "percentage_discount", value: 5 }

/** Every route that writes to a record or names one, in an order in which a store can do them one after the other. */
export const writes: ReadonlyArray<Probe> = [
  probe("PATCH", entity, { metadata: { a: 1 } }),
  probe("PUT", `${entity}/attributes/en`, { title: "Changed" }),
  probe("POST", `${entity}/revisions/1/restore`),
  probe("PATCH", entity, { customFields: { grade: "B" } }),
  probe("POST", `${entity}/attributes/de/approve`),
  probe("POST", `${entity}/attributes/nl/reject`),
  probe("PUT", `${entity}/schedule`, { publishAt: "2998-01-01" }),
  probe("DELETE", `${entity}/schedule`),
  probe("PATCH", field, { label: "Changed" }),
  probe("POST", `${field}/archive`),
  probe("POST", `${field}/restore`),
  probe("POST", `${entity}/options`, { name: "Colour", values: ["Red"] }),
  probe("POST", "/api/catalog/options/{optionType}/values", { value: "M" }),
  probe("POST", `${entity}/variants`, { options: { Size: "M", Colour: "Red" } }),
  probe("POST", `${entity}/variants/generate`, { mode: "all" }),
  probe("POST", `${entity}/publish`),
  probe("POST", "/api/catalog/categories", { slug: "below", parentId: "{category}" }),
  probe("PATCH", category, { sortOrder: 3 }),
  probe("PATCH", category, { parentId: "{parent}", sortOrder: 4 }),
  probe("POST", `${category}/move`, { parentId: "{parent}" }),
  probe("POST", `${category}/archive`),
  probe("POST", `${category}/restore`),
  probe("PATCH", "/api/catalog/brands/{brand}", { displayName: "Changed" }),
  probe("POST", `${entity}/categories/{category}`),
  probe("POST", `${entity}/brands/{brand}`),
  probe("PATCH", "/api/media/{medium}", { alt: "Changed" }),
  probe("POST", "/api/media/attach", { entityId: "{entity}", mediaAssetId: "{looseMedium}", role: "gallery" }),
  probe("POST", "/api/media/attach", { ...item, mediaAssetId: "{medium}", role: "primary" }),
  probe("POST", "/api/media/detach", { entityId: "{entity}", mediaAssetId: "{looseMedium}" }),
  probe("POST", "/api/media/detach", { ...item, mediaAssetId: "{medium}" }),
  probe("DELETE", "/api/media/{medium}"),
  probe("POST", "/api/pricing/prices", { entityId: "{entity}", currency: "USD", amount: 5 }),
  probe("POST", "/api/pricing/prices", { ...item, currency: "USD", amount: 5 }),
  probe("POST", "/api/pricing/modifiers", { ...off, ...item }),
  probe("POST", "/api/pricing/modifiers", { ...off, variantId: "{variant}" }),
  probe("PATCH", "/api/pricing/modifiers/{modifier}", { value: 6 }),
  probe("PATCH", "/api/pricing/modifiers/{modifier}", { entityId: "{entity}", value: 7 }),
  probe("PATCH", "/api/promotions/{promotion}", { name: "Changed" }),
  probe("POST", "/api/inventory/adjust", { ...item, warehouseId: "{warehouse}", type: "restock", quantity: 1 }),
  probe("POST", "/api/inventory/reserve", { ...item, warehouseId: "{warehouse}", quantity: 1, orderId: "A-1" }),
  // The reserved sellable: a variant, else an entity.
  probe("POST", "/api/inventory/release", { entityId: "{variant}", quantity: 1, orderId: "{order}" }),
  probe("PATCH", "/api/shipping/zones/{zone}", { priority: 7 }),
  probe("POST", "/api/shipping/rates", { zoneId: "{zone}", name: "Another", currency: "USD", amount: 900 }),
  probe("PATCH", "/api/shipping/rates/{rate}", { zoneId: "{zone}", amount: 501 }),
  probe("POST", "/api/shipping/quotes", { cartId: "{cart}", shippingAddress: anAddressInside }),
  probe("POST", "/api/carts", { currency: "USD", customerId: "{customer}" }),
  probe("PATCH", "/api/carts/{cart}", { note: "Ring twice" }),
  probe("POST", "/api/carts/{cart}/quote", { note: "Ring twice" }),
  probe("POST", "/api/carts/{cart}/payment-session", { provider: "test" }),
  probe("POST", "/api/carts/{cart}/secret"),
  probe("PATCH", "/api/carts/{cart}/items/{item}", { quantity: 4 }),
  probe("DELETE", "/api/carts/{cart}/items/{item}"),
  probe("POST", "/api/carts/{cart}/items", { ...item, quantity: 1 }),
  probe("POST", "/api/checkout", { cartId: "{cart}", paymentMethodId: "test", currency: "USD" }),
  probe("PATCH", "/api/orders/{order}/status", { status: "confirmed" }),
  probe("POST", "/api/orders/{order}/fulfillments", { lineItems: [{ orderLineItemId: "{orderLine}", quantity: 1 }] }),
  probe("PATCH", "/api/orders/{order}/fulfillments/{parcel}", { status: "delivered" }),
  probe("POST", "/api/orders/{refundable}/refund", { amount: 1 }),
  probe("POST", "/api/orders/{refundable}/refunds", { lines: [{ lineItemId: "{refundableLine}", quantity: 1 }] }),
  probe("POST", "/api/orders/{refundable}/refunds/{refund}/undo"),
  probe("POST", "/api/orders/{authorized}/capture", {}),
  probe("POST", "/api/orders/{sent}/returns", { lines: [{ lineItemId: "{sentLine}", quantity: 1 }] }),
  probe("POST", "/api/orders/{sent}/returns/{askedBack}/approve", { instructions: "Use the box." }),
  probe("POST", "/api/orders/{sent}/returns/{worn}/reject", { reason: "It was worn." }),
  probe("POST", "/api/orders/{sent}/returns/{withdrawn}/cancel"),
  probe("POST", "/api/orders/{sent}/returns/{onItsWay}/receive", {
    lines: [{ lineItemId: "{sentLine}", quantity: 1, disposition: "scrap" }]
  }),
  probe("POST", "/api/orders/{sent}/returns/{cameBack}/refund", {}),
  probe("POST", "/api/orders/{sent}/returns/{swapped}/exchange", { lines: [{ ...item, quantity: 1 }] }),
  mine("POST", "/api/me/orders/{order}/returns", { lines: [{ lineItemId: "{orderLine}", quantity: 1 }] }),
  mine("POST", "/api/me/orders/{order}/returns/{ownReturn}/cancel"),
  probe("POST", "/api/admin/compensation-failures/{failure}/retry"),
  probe("POST", "/api/admin/compensation-failures/{otherFailure}/resolve", { note: "By hand." }),
  probe("POST", "/api/orders/{sent}/messages/{message}/resend", { to: "ann@home.example" }),
  probe("POST", "/api/orders/{order}/invoice/email", { to: "ann@home.example" }),
  probe("PATCH", "/api/orders/{order}/status", { status: "cancelled" }),
  probe("POST", "/api/orders/quote", { currency: "USD", cartId: "{cart}" }),
  probe("POST", "/api/orders", { currency: "USD", lineItems: [{ ...item, quantity: 1 }] }),
  probe("POST", "/api/orders/{draft}/line-items", { ...item, quantity: 1, isCustomPrice: true, unitPrice: 7 }),
  probe("PATCH", "/api/orders/{draft}/line-items/{draftLine}", { quantity: 2 }),
  probe("DELETE", "/api/orders/{draft}/line-items/{draftLine}"),
  probe("POST", "/api/orders/{draft}/notes", { text: "Again." }),
  probe("DELETE", "/api/orders/{draft}/notes/{note}"),
  probe("POST", "/api/orders/{draft}/payments", { paymentMethodId: "test_requires_action" }),
  probe("POST", "/api/orders/{draft}/cancel"),
  probe("POST", "/api/promotions/{promotion}/deactivate"),
  probe("DELETE", "/api/pricing/modifiers/{modifier}"),
  probe("DELETE", "/api/shipping/rates/{rate}"),
  probe("DELETE", "/api/shipping/zones/{emptyZone}"),
  probe("DELETE", `${entity}/categories/{category}`),
  probe("DELETE", `${entity}/brands/{brand}`),
  probe("DELETE", category),
  probe("DELETE", "/api/catalog/brands/{brand}"),
  probe("POST", `${entity}/archive`),
  probe("POST", `${entity}/discontinue`),
  probe("PATCH", "/api/customers/{customer}", { phone: "1" }),
  mine("PATCH", "/api/me/profile", { phone: "2" }),
  probe("POST", "/api/customers/{customer}/interactions", { kind: "call", notes: "Called." }),
  probe("PATCH", "/api/customers/{customer}/interactions/{interaction}", { notes: "Changed" }),
  probe("DELETE", "/api/customers/{customer}/interactions/{interaction}"),
  probe("PATCH", "/api/customers/groups/{group}", { description: "Changed" }),
  probe("POST", "/api/customers/groups/{group}/members/{customer}"),
  probe("DELETE", "/api/customers/groups/{group}/members/{customer}"),
  probe("DELETE", "/api/customers/groups/{group}"),
  probe("PATCH", "/api/tax/classes/{taxClass}", { rateBps: 200 }),
  probe("DELETE", "/api/tax/classes/{taxClass}"),
  probe("PATCH", "/api/tax/rates/{taxRate}", { rateBps: 200 }),
  probe("DELETE", "/api/tax/rates/{taxRate}"),
  mine("POST", "/api/me/orders/{order}/reorder"),
  mine("DELETE", "/api/me/addresses/{address}"),
  probe("PATCH", "/api/webhooks/{endpoint}", { description: "Changed" }),
  probe("POST", "/api/webhooks/{endpoint}/rotate-secret", {}),
  probe("POST", "/api/webhooks/{endpoint}/test"),
  probe("POST", "/api/webhooks/deliveries/{delivery}/redeliver"),
  probe("DELETE", "/api/webhooks/{endpoint}"),
  probe("POST", "/api/admin/jobs/{job}/retry"),
  probe("DELETE", "/api/admin/api-keys/{apiKey}"),
  probe("PATCH", "/api/admin/staff/{member}", { role: "customer" }),
  probe("DELETE", "/api/admin/staff/{member}"),
  probe("POST", "/api/imports/{upload}/cancel")
]

/** A sold entity is never deleted, so the owner gets a refusal too. */
export const refusedAnyway = probe("DELETE", entity)

/** Routes that name no record. The event of a provider names its order itself (Webhook.test.ts). */
export const nameless: ReadonlySet<string> = new Set([
  "GET /api/addresses/formats",
  "GET /api/health",
  "GET /api/ready",
  "GET /health/live",
  "GET /health/ready",
  "GET /metrics",
  "GET /api/metrics",
  "GET /api/jobs/run",
  // About the caller: ErasureHttp.test.ts.
  "GET /api/me/export",
  "DELETE /api/me",
  // The secret of a guest's cart: CartClaims.test.ts.
  "POST /api/carts/:id/claim",
  // The signature names the file: DownloadsHttp.test.ts.
  "GET /api/downloads/:id",
  // The token names the organization: Declining.test.ts.
  "GET /api/mail/unsubscribe",
  "POST /api/mail/unsubscribe",
  // FilesHttp.test.ts.
  "GET /api/media/files/:year/:name",
  "POST /api/media/upload",
  "POST /api/jobs/run",
  "POST /api/payments/webhook",
  "POST /api/catalog/entities",
  "POST /api/imports",
  "POST /api/catalog/brands",
  "POST /api/admin/entity-field-definitions",
  "POST /api/promotions",
  "POST /api/promotions/validate",
  "POST /api/inventory/warehouses",
  "POST /api/shipping/zones",
  "POST /api/webhooks",
  "POST /api/admin/api-keys",
  "POST /api/customers",
  "POST /api/customers/groups",
  "POST /api/tax/classes",
  "POST /api/tax/rates",
  "POST /api/me/addresses",
  "GET /api/admin/permissions",
  "GET /api/admin/staff/roles",
  // A user may be a member of several organizations: Staff.test.ts.
  "POST /api/admin/staff",
  "POST /api/admin/staff/invitations"
])

/** Whether the probe is a request to the route, whose path has a colon before each parameter. */
export const asks = ({ method, path }: Probe, route: { readonly method: string; readonly path: string }): boolean =>
  method === route.method &&
  new RegExp(`^${route.path.replace(/:[^/]+/g, "[^/]+")}$`).test(path.split("?")[0] ?? "")

const braces = /\{(\w+)\}/g

const isName = (text: string, store: Store): text is RecordName => text !== "as" && text !== "buyer" && text in store

/** The records that a request names. */
export const namesIn = ({ body, path }: Probe, store: Store): ReadonlyArray<RecordName> =>
  [...new Set([...`${path} ${JSON.stringify(body ?? {})}`.matchAll(braces)].map(([, name = ""]) => name))]
    .filter((name) => isName(name, store))

/** The request with the ids of a store's records in place of their names. */
export const filled = ({ body, path, ...probe }: Probe, store: Store): Probe => {
  const fill = (text: string) => text.replace(braces, (_, name: string) => isName(name, store) ? store[name] : name)
  return { ...probe, path: fill(path), body: body && JSON.parse(fill(JSON.stringify(body))) }
}

/** The sender of a probe. */
export const askerOf = ({ own }: Probe, { as, buyer }: Store): Store["as"] => own === true ? buyer : as
