import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aProductInSizes, buyAs, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asCustomer, inOrganization, withSharedApp } from "../support/TestApp.ts"
import { ids } from "./CustomerFixtures.ts"

const get = (as: typeof asAdmin, path: string) => api("GET", `/api/me/orders${path}`, { as })

const bought = Effect.fnUntraced(function*(as: typeof asAdmin, entityId: string) {
  const made = yield* buyAs(as, entityId)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return { id: made.text("data.id"), number: made.text("data.orderNumber") }
})

const to = (status: string, id: string) => api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body: { status } })

/** A digital product with the address of its file. */
const aFile = Effect.fnUntraced(function*(downloadUrl?: string) {
  const id = yield* aProduct({ type: "digitalDownload" })
  const metadata = { pages: 3, ...(downloadUrl === undefined ? {} : { downloadUrl }) }
  yield* api("PATCH", `/api/catalog/entities/${id}`, { as: asAdmin, body: { metadata } })
  return id
})

const downloads = (as: typeof asAdmin, orderId: string) => get(as, `/${orderId}/downloads`)

const follow = (link: string) => api("GET", link)

withSharedApp("orders of the caller", (it) => {
  it.effect("orders of the caller are listed with their lines, newest first, page by page and by status", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const ann = asCustomer("ann")
      const thing = yield* aProduct()
      const empty = yield* get(ann, "")
      const pagination = { page: 1, limit: 20, total: 0, totalPages: 1 }
      assert.deepStrictEqual(empty.body, { data: [], meta: { pagination } })
      const made = [yield* bought(ann, thing), yield* bought(ann, thing), yield* bought(ann, thing)].map(({ id }) => id)
      yield* bought(asCustomer("another"), thing)
      const all = yield* get(ann, "")
      assert.deepStrictEqual(ids(all), made.toReversed())
      assert.strictEqual(all.at("data.0.lineItems.0.entityId"), thing)
      const second = yield* get(ann, "?page=2&limit=2")
      assert.deepStrictEqual(ids(second), [made[0]])
      assert.deepStrictEqual(second.at("meta"), { pagination: { page: 2, limit: 2, total: 3, totalPages: 2 } })
      assert.strictEqual((yield* get(ann, "?limit=1000")).at("meta.pagination.limit"), 100)
      yield* to("confirmed", made[1] ?? "")
      assert.deepStrictEqual(ids(yield* get(ann, "?status=confirmed")), [made[1]])
      assert.deepStrictEqual(ids(yield* get(ann, "?status=lost")), [])
      assert.deepStrictEqual(ids(yield* get(inOrganization("org_other", ann), "")), [])
    }))

  it.effect("orders of the caller are read by id and number", () =>
    Effect.gen(function*() {
      const ben = asCustomer("ben")
      const { id, number } = yield* bought(ben, yield* aProduct())
      const [byId, byNumber] = [yield* get(ben, `/${id}`), yield* get(ben, `/${number}`)]
      assert.deepStrictEqual([byId.status, byId.at("data.orderNumber")], [200, number])
      assert.deepStrictEqual(byNumber.at("data"), byId.at("data"))
      for (const rest of ["", "/tracking", "/downloads"]) {
        refused(yield* get(ben, `/${crypto.randomUUID()}${rest}`), 404, "NOT_FOUND")
      }
      refused(yield* get(ben, "/mine"), 404, "NOT_FOUND")
      refused(yield* get(ben, "/mine/downloads"), 422, "VALIDATION_FAILED")
    }))

  it.effect("orders of the caller are tracked by shipment, with null for unknown facts", () =>
    Effect.gen(function*() {
      const dora = asCustomer("dora")
      const { id, number } = yield* bought(dora, yield* aProduct({ slug: "parcel" }))
      assert.deepStrictEqual((yield* get(dora, `/${id}/tracking`)).at("data"), [])
      yield* onDatabase((sql, organizationId) =>
        sql`with made as (insert into fulfillments (id, organization_id, order_id, type, status, carrier,
            tracking_number, shipped_at)
          values (gen_random_uuid(), ${organizationId}, ${id}::uuid, 'physical', 'shipped', 'Post', 'T1', '2026-01-01Z')
          returning id)
        insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
          select ${organizationId}, made.id, l.id, 1 from made, order_lines l where l.order_id = ${id}::uuid`
      )
      const recorded = yield* get(dora, `/${number}/tracking`)
      const line = (yield* get(dora, `/${id}`)).at("data.lineItems.0.id")
      assert.deepStrictEqual(recorded.at("data"), [{
        fulfillmentId: recorded.at("data.0.fulfillmentId"),
        status: "shipped",
        carrier: "Post",
        trackingNumber: "T1",
        trackingUrl: null,
        estimatedDelivery: null,
        shippedAt: "2026-01-01T00:00:00.000Z",
        deliveredAt: null,
        lineItems: [{ id: line, title: "Title of parcel", variantTitle: null, quantity: 1 }]
      }])
      const digital = yield* bought(dora, yield* aProduct({ type: "course" }))
      const arrived = yield* get(dora, `/${digital.id}/tracking`)
      assert.strictEqual(arrived.at("data.0.status"), "delivered")
      assert.isString(arrived.at("data.0.deliveredAt"))
    }))

  it.effect("orders of the caller grant their files by a signed link, five times, also to concurrent requests", () =>
    Effect.gen(function*() {
      const emil = asCustomer("emil")
      const entity = yield* aFile("https://files.example.test/book.pdf")
      const { id } = yield* bought(emil, entity)
      const offered = yield* downloads(emil, id)
      assert.hasAllKeys(offered.at("data.0"), [
        "lineItemId",
        "title",
        "variantTitle",
        "downloadUrl",
        "downloadsRemaining",
        "expiresAt"
      ])
      assert.strictEqual(offered.at("data.0.downloadsRemaining"), 5)
      const link = offered.text("data.0.downloadUrl")
      assert.strictEqual((yield* downloads(emil, id)).at("data.0.downloadUrl"), link)
      const led = yield* follow(link)
      assert.deepStrictEqual(
        [led.status, led.headers.get("location"), led.headers.get("cache-control")],
        [302, "https://files.example.test/book.pdf", "no-store"]
      )
      const rush = yield* Effect.all(Array.from({ length: 12 }, () => follow(link)), { concurrency: "unbounded" })
      assert.deepStrictEqual(rush.filter(({ status }) => status === 302).length, 4)
      for (const other of rush) if (other.status !== 302) refused(other, 403, "FORBIDDEN")
      const after = yield* downloads(emil, id)
      assert.deepStrictEqual([after.at("data.0.downloadUrl"), after.at("data.0.downloadsRemaining")], [null, 0])
    }))

  it.effect("orders of the caller grant nothing by a changed or expired link, or after a cancellation", () =>
    Effect.gen(function*() {
      const fay = asCustomer("fay")
      const { id } = yield* bought(fay, yield* aFile("https://files.example.test/a"))
      const other = yield* bought(fay, yield* aFile("https://files.example.test/b"))
      const link = (yield* downloads(fay, id)).text("data.0.downloadUrl")
      const [path = "", query = ""] = link.split("?")
      const [otherPath = ""] = (yield* downloads(fay, other.id)).text("data.0.downloadUrl").split("?")
      const end = Number(new URLSearchParams(query).get("expires"))
      const forged = [
        path,
        `${otherPath}?${query}`,
        `${path}?${query.replace(String(end), String(end + 1))}`,
        `${path}?expires=${end}&signature=`,
        `${path}?expires=${end}&signature=${"A".repeat(43)}`,
        `${path}?expires=NaN&signature=${"A".repeat(43)}`
      ]
      for (const wrong of forged) refused(yield* follow(wrong), 404, "NOT_FOUND", wrong)
      yield* onDatabase((sql) =>
        sql`update fulfillments set metadata = metadata || '{"downloadExpiresAt": "2026-01-01T00:00:00Z"}'
          where order_id = ${id}::uuid`
      )
      refused(yield* follow(link), 403, "FORBIDDEN")
      assert.strictEqual((yield* downloads(fay, id)).at("data.0.downloadUrl"), null)
      yield* to("cancelled", other.id)
      assert.deepInclude((yield* downloads(fay, other.id)).at("data.0"), { downloadUrl: null, downloadsRemaining: 0 })
    }))

  it.effect("orders of the caller grant the file of the variant before that of its entity, and none where neither has one", () =>
    Effect.gen(function*() {
      const gus = asCustomer("gus")
      const plain = yield* bought(gus, yield* aFile())
      const wrong = yield* bought(gus, yield* aFile("javascript:alert(1)"))
      for (const { id } of [plain, wrong]) {
        assert.deepInclude((yield* downloads(gus, id)).at("data.0"), { downloadUrl: null, downloadsRemaining: 5 })
      }
      const { entityId, small } = yield* aProductInSizes()
      yield* onDatabase((sql) =>
        sql`with v as (update variants set metadata = '{"downloadUrl": "https://files.example.test/small"}'
            where id = ${small}::uuid)
          update catalog_entities set type = 'digitalDownload',
            metadata = '{"downloadUrl": "https://files.example.test/any"}' where id = ${entityId}::uuid`
      )
      const cart = yield* api("POST", "/api/carts", { as: gus, body: { currency: "USD" } })
      const cartId = cart.text("data.id")
      yield* api("POST", `/api/carts/${cartId}/items`, { as: gus, body: { entityId, variantId: small, quantity: 1 } })
      const made = yield* api("POST", "/api/checkout", {
        as: gus,
        body: { cartId, paymentMethodId: "test", currency: "USD" }
      })
      const link = (yield* downloads(gus, made.text("data.id"))).text("data.0.downloadUrl")
      assert.strictEqual((yield* follow(link)).headers.get("location"), "https://files.example.test/small")
      const read = (as: typeof asAdmin) => api("GET", `/api/catalog/entities/${entityId}?include=variants`, { as })
      assert.include(JSON.stringify((yield* read(asAdmin)).body), "files.example.test")
      assert.notInclude(JSON.stringify((yield* read(gus)).body), "files.example.test")
      const listed = yield* api("GET", "/api/catalog/entities?include=variants&limit=100")
      assert.notInclude(JSON.stringify(listed.body), "files.example.test")
    }))

  it.effect("orders of the caller that a guest placed grant their files too, and keep the guest's address", () =>
    Effect.gen(function*() {
      const opened = yield* api("POST", "/api/carts", { body: { currency: "USD", email: " Guest@Shop.test " } })
      const cart = { id: opened.text("data.id"), headers: { "x-cart-secret": opened.text("data.secret") } }
      yield* putInto(cart, yield* aFile("https://files.example.test/guest"))
      const made = yield* checkOut(cart)
      const [row] = yield* onDatabase((sql) =>
        sql<{ email: string }>`select email from orders where id = ${made.text("data.id")}::uuid`
      )
      assert.strictEqual(row?.email, "Guest@shop.test")
      const path = `/api/orders/${made.text("data.id")}/fulfillments`
      const link = (yield* api("GET", path, { headers: cart.headers })).text("data.0.downloadUrl")
      assert.strictEqual((yield* follow(link)).headers.get("location"), "https://files.example.test/guest")
      const changeLog = yield* onDatabase((sql) =>
        sql`select 1 from outbox_events where (payload::text || coalesce(before::text, '')) like '%signature=%'`
      )
      assert.deepStrictEqual(changeLog, [])
    }))
})

withSharedApp("a reorder", (it) => {
  const reorder = (as: typeof asAdmin, id: string, headers = {}) =>
    api("POST", `/api/me/orders/${id}/reorder`, { as, body: {}, headers })

  it.effect("a reorder fills a new cart in the order's currency at current prices, and names items that are not sold any more", () =>
    Effect.gen(function*() {
      const ann = asCustomer("ann")
      const [cheap, gone] = [
        yield* aProduct({ price: 500, currency: "EUR" }),
        yield* aProduct({ price: 700, currency: "EUR", slug: "gone" })
      ]
      const cart = yield* api("POST", "/api/carts", { as: ann, body: { currency: "EUR" } })
      const cartId = cart.text("data.id")
      for (const [entityId, quantity] of [[cheap, 3], [gone, 1]]) {
        yield* api("POST", `/api/carts/${cartId}/items`, { as: ann, body: { entityId, quantity } })
      }
      const body = { cartId, paymentMethodId: "test", currency: "EUR" }
      const order = yield* api("POST", "/api/checkout", { as: ann, body })
      const price = { entityId: cheap, currency: "EUR", amount: 900 }
      yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: price })
      yield* api("POST", `/api/catalog/entities/${gone}/archive`, { as: asAdmin })

      const again = yield* reorder(ann, order.text("data.id"))
      assert.deepStrictEqual([again.status, again.at("data.itemsAdded")], [201, 1])
      assert.deepStrictEqual(again.at("data.itemsFailed"), [{
        item: "Title of gone",
        reason: again.text("data.itemsFailed.0.reason")
      }])
      assert.notStrictEqual(again.at("data.cartId"), cartId)
      const filled = yield* api("GET", `/api/carts/${again.text("data.cartId")}`, { as: ann })
      assert.deepInclude(filled.at("data"), { currency: "EUR", customerId: cart.at("data.customerId") })
      assert.strictEqual(filled.list("data.lineItems").length, 1)
      assert.deepInclude(filled.at("data.lineItems.0"), { entityId: cheap, quantity: 3, unitPriceSnapshot: 900 })
    }))

  it.effect("a reorder is for the owner of the order in any role, once for each Idempotency-Key", () =>
    Effect.gen(function*() {
      const ben = {
        ...asAnonymous,
        userId: "ben",
        permissions: ["catalog:read", "cart:create", "cart:update", "orders:create"]
      }
      const { id } = yield* bought(ben, yield* aProduct())
      const headers = { "idempotency-key": "ben-buys-again" }
      const [first, again] = [yield* reorder(ben, id, headers), yield* reorder(ben, id, headers)]
      assert.deepStrictEqual([first.status, again.body], [201, first.body])
      refused(yield* reorder(ben, crypto.randomUUID()), 404, "NOT_FOUND")
      const clerk = { ...ben, role: "staff" }
      const own = yield* reorder(clerk, id)
      assert.strictEqual(
        (yield* api("GET", `/api/carts/${own.text("data.cartId")}`, { as: asCustomer("ben") })).status,
        200
      )
    }))
})
