import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { api, asAdmin, asCustomer, inOrganization } from "../support/TestApp.ts"

/** A request that the API must accept, and its answer. */
const make = Effect.fnUntraced(function*(as: typeof asAdmin, path: string, body: object) {
  const made = yield* api("POST", path, { as, body })
  if (made.status >= 300) {
    return yield* Effect.die(new Error(`POST ${path}: ${made.status} ${JSON.stringify(made.body)}`))
  }
  return made
})

/** A customer's purchase of three units with the promotion of the store. */
const buy = Effect.fnUntraced(function*(as: typeof asAdmin, item: object) {
  const cart = yield* make(as, "/api/carts", { currency: "USD" })
  const cartId = cart.text("data.id")
  yield* make(as, `/api/carts/${cartId}/items`, { ...item, quantity: 3 })
  const request = { cartId, paymentMethodId: "test", currency: "USD", promotionCodes: ["SAVE"] }
  const order = yield* make(as, "/api/checkout", request)
  return {
    customer: cart.text("data.customerId"),
    order: order.text("data.id"),
    orderNumber: order.text("data.orderNumber"),
    orderLine: order.text("data.lineItems.0.id")
  }
})

/** The catalog of a store; slugs, names and codes are the same in every store. The category is below `parent`. */
const aCatalog = Effect.fnUntraced(function*(as: typeof asAdmin) {
  const graded = { entityType: "product", name: "grade", kind: "text", isFilterable: true }
  const field = (yield* make(as, "/api/admin/entity-field-definitions", graded)).text("data.id")
  const words = { title: "Thing" }
  const body = { type: "product", slug: "thing", status: "active", attributes: words, customFields: { grade: "A" } }
  const entity = (yield* make(as, "/api/catalog/entities", body)).text("data.id")
  const at = `/api/catalog/entities/${entity}`
  for (const locale of ["de", "nl"]) {
    yield* api("PUT", `${at}/attributes/${locale}`, { as, body: { title: "Ding", status: "draft" } })
  }
  yield* api("PUT", `${at}/schedule`, { as, body: { unpublishAt: "2999-01-01" } })
  const optionType = (yield* make(as, `${at}/options`, { name: "Size" })).text("data.id")
  const value = yield* make(as, `/api/catalog/options/${optionType}/values`, { value: "S" })
  const variant = (yield* make(as, `${at}/variants`, { options: { Size: "S" }, sku: "THING-S" })).text("data.id")
  const parent = (yield* make(as, "/api/catalog/categories", { slug: "all" })).text("data.id")
  const below = { slug: "things", parentId: parent }
  const category = (yield* make(as, "/api/catalog/categories", below)).text("data.id")
  const brand = (yield* make(as, "/api/catalog/brands", { slug: "maker", displayName: "Maker" })).text("data.id")
  yield* make(as, `${at}/categories/${category}`, {})
  yield* make(as, `${at}/brands/${brand}`, {})
  return { entity, optionType, optionValue: value.text("data.id"), variant, category, parent, brand, field }
})

/** An address as customers send it. */
export const anAddress = {
  type: "shipping",
  firstName: "Ann",
  lastName: "Buyer",
  line1: "1 Main St",
  city: "Town",
  postalCode: "1000 AA",
  country: "NL",
  isDefault: true
}

/** A webhook endpoint whose host does not exist, and a delivery that failed for that. */
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

/** Two pictures without files: one of the entity, and one of no entity. */
const media = Effect.fnUntraced(function*(organization: string, entity: string) {
  const [medium, looseMedium] = [randomUUID(), randomUUID()]
  yield* onDatabase((sql) =>
    sql`with assets as (insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest)
        select id::uuid, ${organization}, '2020/' || id || '.png', 'picture.png', 'image/png', 1, 'x'
        from unnest(${[medium, looseMedium]}::text[]) as made(id) returning id)
      insert into entity_media (organization_id, entity_id, media_asset_id, role)
      select ${organization}, ${entity}::uuid, id, 'primary' from assets where id = ${medium}::uuid`
  )
  return { medium, looseMedium }
})

const anApiKey = Effect.fnUntraced(function*(organization: string) {
  const id = randomUUID()
  yield* onDatabase((sql) =>
    sql`insert into api_keys (id, name, key, reference_id, organization_id, role)
      values (${id}::uuid, 'Key', ${id}, ${organization}, ${organization}, 'staff')`
  )
  return id
})

const anUpload = Effect.fnUntraced(function*(organization: string) {
  const id = randomUUID()
  yield* onDatabase((sql) =>
    sql`with made as (insert into imports (id, organization_id, kind, format, dry_run, state, actor, rows, read, unchanged, refused, warned)
        values (${id}::uuid, ${organization}, 'catalog', 'jsonl', false, 'queued', '{}', 3, 2, 1, 1, 1)),
      reported as (select ${organization} as organization, ${id}::uuid as import,
        '[{"path": "slug", "message": "no", "code": "invalid"}]'::jsonb as issues),
      refused as (insert into import_refusals (organization_id, import_id, row, line, key, issues)
        select organization, import, 1, 1, organization, issues from reported),
      warned as (insert into import_warnings (organization_id, import_id, row, line, key, issues)
        select organization, import, 2, 2, organization, issues from reported)
      insert into import_changes (organization_id, import_id, row, line, key, result, changes)
      select organization, import, 3, 3, organization, 'created', '[]' from reported`
  )
  return id
})

const aMember = Effect.fnUntraced(function*(organization: string) {
  const id = randomUUID()
  yield* onDatabase((sql) =>
    sql`with added as (insert into users (name, email) values ('Member', ${`${id}@example.com`}) returning id)
      insert into members (id, organization_id, user_id, role)
      select ${id}::uuid, ${organization}, id, 'staff' from added`
  )
  return id
})

/** A paid order with a pending refund, an authorized order, and two failed money steps: one to retry, one to resolve. */
const moneyOf = Effect.fnUntraced(function*(organizationId: string) {
  const build = (spec: Parameters<typeof buildOrder>[0]) =>
    onDatabase((sql) => Effect.provideService(buildOrder({ organizationId, ...spec }), SqlClient.SqlClient, sql))
  const paid = yield* build({ orderNumber: "ORD-2020-900001", lines: [{ quantity: 9 }] })
  const authorized = yield* build({ orderNumber: "ORD-2020-900002", captured: null })
  const [refund, failed, failure, otherFailure] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  yield* onDatabase((sql) =>
    sql`with ledger as (insert into refunds (id, organization_id, order_id, amount, reason, status, next_attempt_at)
        values (${refund}::uuid, ${organizationId}, ${paid.id}::uuid, 7, 'r', 'pending', now() + interval '1 day'),
          (${failed}::uuid, ${organizationId}, ${paid.id}::uuid, 8, 'r', 'failed', now()))
      insert into compensation_failures (id, organization_id, kind, order_id, refund_id, amount, message)
      values (${failure}::uuid, ${organizationId}, 'refund_failed', ${paid.id}::uuid, ${failed}::uuid, 8, 'no'),
        (${otherFailure}::uuid, ${organizationId}, 'void_failed', null, null, 0, 'silent')`
  )
  const refundableLine = paid.lines[0]?.id ?? ""
  return { refundable: paid.id, refundableLine, refund, authorized: authorized.id, failure, otherFailure }
})

/** A mail about an order that was sent; none in a deployment without mail. */
const messageOf = Effect.fnUntraced(function*(as: typeof asAdmin, order: string) {
  yield* make(as, `/api/orders/${order}/invoice/email`, { to: "ann@home.example" })
  const [sent] = yield* onDatabase((sql) =>
    sql<
      { id: string }
    >`update order_mails set outcome = 'sent', failure = null, sent_at = now() where order_id = ${order}::uuid
      returning id`
  )
  return sent?.id ?? randomUUID()
})

/** Returns of an order that was handed over, one before each step, and one that its customer asked for. */
const returnsOf = Effect.fnUntraced(function*(
  organizationId: string,
  as: typeof asAdmin,
  own: { readonly buyer: typeof asAdmin; readonly order: string; readonly orderLine: string }
) {
  const sent = yield* onDatabase((sql) =>
    Effect.provideService(
      buildOrder({
        organizationId,
        orderNumber: "ORD-2020-900003",
        status: "fulfilled",
        lines: [{ quantity: 9, fulfillmentStatus: "fulfilled" }]
      }),
      SqlClient.SqlClient,
      sql
    )
  )
  const sentLine = sent.lines[0]?.id ?? ""
  const asked = (sender: typeof asAdmin, path: string, lineItemId: string) =>
    Effect.map(make(sender, path, { lines: [{ lineItemId, quantity: 1 }] }), (answer) => answer.text("data.id"))
  const path = `/api/orders/${sent.id}/returns`
  const take = (id: string, verb: string, body: object) => make(as, `${path}/${id}/${verb}`, body)
  const [askedBack, worn, withdrawn, onItsWay, cameBack, swapped] = yield* Effect.all([
    asked(as, path, sentLine),
    asked(as, path, sentLine),
    asked(as, path, sentLine),
    asked(as, path, sentLine),
    asked(as, path, sentLine),
    asked(as, path, sentLine)
  ])
  yield* take(onItsWay, "approve", {})
  for (const id of [cameBack, swapped]) {
    yield* take(id, "approve", {})
    yield* take(id, "receive", { lines: [{ lineItemId: sentLine, quantity: 1, disposition: "scrap" }] })
  }
  const ownReturn = yield* asked(own.buyer, `/api/me/orders/${own.order}/returns`, own.orderLine)
  const message = yield* messageOf(as, sent.id)
  return { message, sent: sent.id, sentLine, askedBack, worn, withdrawn, onItsWay, cameBack, swapped, ownReturn }
})

/**
 * Fills an organization with one record of each kind and gives their ids. `as` is its administrator, `buyer` its customer
 * with a paid order. The cart has no customer, so that staff may change it; nothing is priced in `emptyZone`; the draft is
 * an unpaid order that staff wrote, with two lines.
 */
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
  const zones = yield* Effect.forEach(
    ["Here", "There"],
    (name) => make(as, "/api/shipping/zones", { name, countries: ["US"] })
  )
  const [zone = "", emptyZone = ""] = zones.map((answer) => answer.text("data.id"))
  const byPost = { zoneId: zone, name: "Parcel", currency: "USD", amount: 500 }
  const rate = (yield* make(as, "/api/shipping/rates", byPost)).text("data.id")
  const shopper = inOrganization(organization, asCustomer(buyer))
  const bought = yield* buy(shopper, item)
  const group = (yield* make(as, "/api/customers/groups", { name: "Regulars" })).text("data.id")
  const taxClass = (yield* make(as, "/api/tax/classes", { name: "special", rateBps: 100 })).text("data.id")
  const taxRate = yield* make(as, "/api/tax/rates", { name: "VAT", country: "FR", rateBps: 100 })
  const visit = { kind: "visit", notes: "Came by.", relatedEntityId: entity }
  const interaction = yield* make(as, `/api/customers/${bought.customer}/interactions`, visit)
  const address = (yield* make(shopper, "/api/me/addresses", anAddress)).text("data.id")
  yield* make(as, "/api/inventory/reserve", { ...item, quantity: 3, orderId: bought.order })
  const cart = (yield* make(as, "/api/carts", { currency: "USD" })).text("data.id")
  const line = yield* make(as, `/api/carts/${cart}/items`, { ...item, quantity: 2 })
  const parcel = randomUUID()
  yield* onDatabase((sql) =>
    sql`with made as (insert into fulfillments (id, organization_id, order_id, type, status)
        values (${parcel}::uuid, ${organization}, ${bought.order}::uuid, 'physical', 'shipped') returning id)
      insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
      select ${organization}, made.id, l.id, 1 from made, order_lines l where l.order_id = ${bought.order}::uuid`
  )
  const [failed] = yield* onDatabase((sql) =>
    sql<{ id: string }>`insert into commerce_jobs (id, organization_id, task_slug, status, error, completed_at)
      values (gen_random_uuid(), ${organization}, 'test/none', 'failed', 'no', now()) returning id`
  )
  const written = yield* make(as, "/api/orders", {
    currency: "USD",
    lineItems: [{ ...item, quantity: 1 }, { ...item, quantity: 1, isCustomPrice: true, unitPrice: 5 }]
  })
  const noted = yield* make(as, `/api/orders/${written.text("data.id")}/notes`, { text: "Noted." })
  return {
    as,
    draft: written.text("data.id"),
    draftLine: written.text("data.lineItems.1.id"),
    note: noted.text("data.id"),
    buyer: shopper,
    ...catalog,
    ...(yield* media(organization, entity)),
    price: price.text("data.id"),
    modifier: modifier.text("data.id"),
    promotion: promotion.text("data.id"),
    warehouse,
    zone,
    emptyZone,
    rate,
    address,
    group,
    taxClass,
    taxRate: taxRate.text("data.id"),
    interaction: interaction.text("data.id"),
    cart,
    item: line.text("data.id"),
    ...(yield* anEndpoint(as, organization)),
    ...(yield* moneyOf(organization)),
    ...(yield* returnsOf(organization, as, { buyer: shopper, ...bought })),
    job: failed?.id ?? "",
    apiKey: yield* anApiKey(organization),
    upload: yield* anUpload(organization),
    member: yield* aMember(organization),
    parcel,
    ...bought
  }
})

export type Store = Effect.Success<ReturnType<typeof aStore>>
