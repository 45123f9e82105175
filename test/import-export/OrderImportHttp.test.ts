import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, stockOf } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aCartWith, addTo, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asStaff, withApp } from "../support/TestApp.ts"
import { counts, exported, imported, reasons, upload } from "./ImportCalls.ts"
import { anOldOrder, importedOrders } from "./ImportedOrders.ts"

const as = asAdmin

/** Buys something as a guest and gives the order. */
const bought = Effect.fnUntraced(function*(entityId: string, body: object = {}) {
  const placed = yield* checkOut(yield* aCartWith(entityId, 2), body)
  assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
  return placed
})

const orderOf = (number: string, who = as) => api("GET", `/api/orders/${encodeURIComponent(number)}`, { as: who })

withApp("an import of orders", (it) => {
  describe("and the numbers of the store", () => {
    it.effect("never meet: the counter passes over what came in, and what it gave out is taken", () =>
      Effect.gen(function*() {
        const mug = yield* aProduct({ slug: "mug" })
        const number = (n: number) => `ORD-${new Date().getUTCFullYear()}-${String(n).padStart(6, "0")}`
        const place = Effect.map(bought(mug), (order) => order.text("data.orderNumber"))
        assert.strictEqual(yield* place, number(1))
        assert.deepStrictEqual(counts(yield* importedOrders([2, 3, 4, 5].map((n) => anOldOrder(number(n))))), [
          4,
          0,
          0,
          0
        ])
        assert.strictEqual(yield* place, number(6))
        const late = yield* importedOrders([7, 10, 6].map((n) => anOldOrder(number(n))))
        assert.deepStrictEqual(counts(late), [1, 0, 0, 2])
        assert.deepStrictEqual(yield* reasons(late.text("data.id")), [
          "1: orderNumber is one that this store has given out itself, or is about to",
          "3: orderNumber belongs to another order, and an order is never overwritten"
        ])
        assert.deepStrictEqual([yield* place, yield* place], [number(7), number(11)])
        // Nobody was given 8 and 9, which the counter has passed over.
        assert.deepStrictEqual(counts(yield* importedOrders([anOldOrder("ORD-0001-000001")])), [1, 0, 0, 0])
        assert.lengthOf(yield* onDatabase((sql) => sql`select 1 from order_counters`), 1)
        assert.deepStrictEqual(counts(yield* importedOrders([9, 8, 12].map((n) => anOldOrder(number(n))))), [
          2,
          0,
          0,
          1
        ])
        const [held] = yield* onDatabase((sql) => sql`select last_number::int4 as last from order_counters`)
        assert.isAbove(Number(held?.["last"]), 11)
      }))
  })

  describe("out of a store, into another one and out of that", () => {
    it.effect("is the same to the byte, as CSV and as lines of JSON", () =>
      Effect.gen(function*() {
        const mug = yield* aProduct({ slug: "cup", price: 1999 })
        const card = yield* aProduct({ slug: "card", price: 333 })
        const cart = yield* aCartWith(mug, 3)
        yield* addTo(cart, card, 7)
        const address = { line1: "1 Main St", city: "Town", postalCode: "1", country: "NL" }
        const order = yield* checkOut(cart, { shippingAddress: address, metadata: { "=gift": "'yes" } })
        assert.strictEqual(order.status, 201, JSON.stringify(order.body))
        const back = yield* bought(mug)
        yield* api("POST", `/api/orders/${back.text("data.id")}/refund`, { as, body: { amount: 500 } })
        const ended = yield* bought(card)
        yield* api("PATCH", `/api/orders/${ended.text("data.id")}/status`, { as, body: { status: "cancelled" } })
        const [csv, lines, catalog] = [
          yield* exported("orders"),
          yield* exported("orders", "jsonl"),
          yield* exported("catalog", "jsonl")
        ]
        for (const [file, format] of [[csv, "csv"], [lines, "jsonl"]] as const) {
          const owner = yield* anOrganization
          yield* imported(catalog, { as: owner, type: "application/jsonl" })
          const done = yield* imported(file, { as: owner, query: `kind=orders&format=${format}` })
          assert.deepStrictEqual(yield* reasons(done.text("data.id"), owner), [])
          assert.strictEqual(yield* exported("orders", "csv", owner), csv)
          assert.strictEqual(yield* exported("orders", "jsonl", owner), lines)
          const again = yield* imported(file, { as: owner, query: `kind=orders&format=${format}` })
          assert.deepStrictEqual(counts(again), [0, 0, done.number("data.created"), 0])
        }
        const itself = yield* imported(csv, { query: "kind=orders" })
        assert.strictEqual(itself.number("data.unchanged"), itself.number("data.rows"))
      }))
  })

  describe("brings records", () => {
    it.effect("with totals split as a checkout splits them, under their own numbers and days", () =>
      Effect.gen(function*() {
        const owner = yield* anOrganization
        assert.deepStrictEqual(counts(yield* importedOrders([anOldOrder("#1001")], { as: owner })), [1, 0, 0, 0])
        const found = yield* orderOf("#1001", owner)
        const data = ["status", "placedAt", "subtotal", "grandTotal", "amountCaptured", "refundedTotal", "customerId"]
          .map((name) => found.at(`data.${name}`))
        assert.deepStrictEqual(data, ["fulfilled", "2021-03-04T05:06:07.089Z", 2500, 2520, 2520, 0, null])
        assert.isString(found.at("data.importedAt"))
        const line = (n: number) =>
          ["totalPrice", "discountAmount", "taxAmount", "fulfillmentStatus"].map((name) =>
            found.at(`data.lineItems.${n}.${name}`)
          )
        assert.deepStrictEqual([line(0), line(1)], [[2000, 240, 96, "fulfilled"], [500, 60, 24, "fulfilled"]])
        const sold = yield* api("POST", "/api/analytics/query", {
          as: owner,
          body: {
            measures: ["Orders.revenue"],
            timeDimensions: [{ dimension: "Orders.placedAt", dateRange: ["2021-03-04", "2021-03-04"] }]
          }
        })
        assert.include(JSON.stringify(sold.body), "2520")
      }))

    it.effect("under numbers that the store passes over itself, and no other one does", () =>
      Effect.gen(function*() {
        const [owner, other] = [yield* anOrganization, yield* anOrganization]
        for (const as of [owner, other]) {
          assert.deepStrictEqual(counts(yield* importedOrders([anOldOrder("ORD-2019-000007")], { as })), [1, 0, 0, 0])
        }
        yield* importedOrders([anOldOrder("ORD-2019-000070")], { as: owner })
        const rows = yield* onDatabase((sql) =>
          sql<{ readonly to: number }>`select imported_to::int4 as to from order_counters where year = 2019
            and organization_id in (${owner.organizationId}, ${other.organizationId}) order by 1`
        )
        assert.deepStrictEqual(rows.map(({ to }) => to), [7, 70])
      }))

    it.effect("and nothing else: no stock, money, promotion, mail, job, webhook or hook of a sale", () =>
      Effect.gen(function*() {
        const owner = yield* anOrganization
        const mug = yield* aProduct({ slug: "kept", stock: 5 })
        const before = yield* stockOf(mug)
        yield* importedOrders([
          anOldOrder("kept-1", { lineItems: [{ slug: "kept", title: "Kept", quantity: 1, unitPrice: 2500 }] }),
          anOldOrder("kept-2", {
            status: "confirmed",
            lineItems: [{ slug: "kept", title: "Kept", quantity: 1, unitPrice: 2500 }]
          })
        ])
        yield* importedOrders([anOldOrder("kept-1")], { as: owner })
        assert.deepStrictEqual(yield* stockOf(mug), before)
        const recorded = yield* onDatabase((sql) =>
          sql`select distinct e.type, e.event_sequence from outbox_events e join orders o on o.id::text = e.entity_id
            where o.imported_at is not null`
        )
        assert.deepStrictEqual(recorded, [{ type: "orders.import", event_sequence: null }])
        const left = yield* onDatabase((sql) =>
          sql`select 'hold' from holds h join orders o on o.id::text = h.holder where o.imported_at is not null
            union all select 'refund' from refunds r join orders o on o.id = r.order_id where o.imported_at is not null
            union all select 'usage' from promotion_usages u join orders o on o.id = u.order_id
              where o.imported_at is not null
            union all select 'sent' from fulfillments f join orders o on o.id = f.order_id where o.imported_at is not null
            union all select 'job' from commerce_jobs where organization_id = ${owner.organizationId}
              and task_slug <> 'imports/run'`
        )
        assert.deepStrictEqual(left, [])
      }))

    it.effect("that belong to the customer of their address, where it can only be his", () =>
      Effect.gen(function*() {
        const owner = yield* anOrganization
        const made = yield* api("POST", "/api/customers", { as: owner, body: { email: "Ann@home.example" } })
        for (const _ of [1, 2]) yield* api("POST", "/api/customers", { as: owner, body: { email: "two@home.example" } })
        yield* api("POST", "/api/customers", { as: owner, body: { email: "login@home.example", userId: "some-login" } })
        const login = randomUUID()
        yield* onDatabase((sql) =>
          sql`insert into users (id, name, email, email_verified)
            values (${login}::uuid, 'Proven', 'proven@home.example', true)`
        )
        const proven = yield* api("POST", "/api/customers", {
          as: owner,
          body: { email: "Proven@home.example", userId: login }
        })
        const emails = [
          "ann@HOME.example",
          "two@home.example",
          "login@home.example",
          "proven@home.example",
          "nobody@home.example"
        ]
        const done = yield* importedOrders(emails.map((email, n) => anOldOrder(`A-${n}`, { email })), { as: owner })
        assert.deepStrictEqual(counts(done), [5, 0, 0, 0])
        const owners = yield* Effect.forEach(emails, (_, n) => orderOf(`A-${n}`, owner))
        assert.deepStrictEqual(
          owners.map((order) => order.at("data.customerId")),
          [made.text("data.id"), null, null, proven.text("data.id"), null]
        )
        const his = yield* api("GET", `/api/customers/${made.text("data.id")}/orders`, { as: owner })
        assert.strictEqual(his.number("meta.pagination.total"), 1)
      }))

    it.effect("of which no more is given back than was captured, and no second invoice is issued", () =>
      Effect.gen(function*() {
        const owner = yield* anOrganization
        yield* importedOrders([anOldOrder("R-1", {
          refundedTotal: 2000,
          lineItems: [
            { title: "Mug", quantity: 2, unitPrice: 1000, refundedQuantity: 2 },
            { title: "Card", quantity: 1, unitPrice: 500 }
          ]
        })], { as: owner })
        const id = (yield* orderOf("R-1", owner)).text("data.id")
        const cap = yield* api("GET", `/api/orders/refunds/cap?orderId=${id}`, { as: owner })
        // Of the 20.00 given back the mugs were worth 18.56, and the rest was shipping.
        assert.deepStrictEqual(
          [cap.number("data.cap"), cap.number("data.shipping"), cap.list("data.lines").length],
          [520, 56, 1]
        )
        assert.strictEqual(cap.number("data.lines.0.amount"), 464)
        const more = yield* api("POST", `/api/orders/${id}/refund`, { as: owner, body: { amount: 521 } })
        assert.strictEqual(more.status, 422, JSON.stringify(more.body))
        const invoice = yield* api("GET", `/api/orders/${id}/invoice.html`, { as: owner })
        assert.deepStrictEqual([invoice.status, invoice.at("error.code")], [409, "CONFLICT"])
        assert.lengthOf(yield* onDatabase((sql) => sql`select 1 from invoices where order_id = ${id}::uuid`), 0)
      }))
  })

  it.effect("and its lines stay as they were sold, while its status can move on", () =>
    Effect.gen(function*() {
      const owner = yield* anOrganization
      yield* importedOrders([anOldOrder("P-1", { status: "pending", amountCaptured: null })], { as: owner })
      const id = (yield* orderOf("P-1", owner)).text("data.id")
      const line = (yield* orderOf("P-1", owner)).text("data.lineItems.0.id")
      const edit = yield* api("PATCH", `/api/orders/${id}/line-items/${line}`, { as: owner, body: { quantity: 1 } })
      assert.deepStrictEqual([edit.status, edit.at("error.code")], [409, "CONFLICT"])
      for (const status of ["confirmed", "processing", "fulfilled"]) {
        const moved = yield* api("PATCH", `/api/orders/${id}/status`, { as: owner, body: { status } })
        assert.strictEqual(moved.status, 200, JSON.stringify(moved.body))
      }
      const done = yield* importedOrders([anOldOrder("P-2", { status: "processing" })], { as: owner })
      assert.deepStrictEqual(counts(done), [1, 0, 0, 0])
      const paid = (yield* orderOf("P-2", owner)).text("data.id")
      const ended = yield* api("PATCH", `/api/orders/${paid}/status`, { as: owner, body: { status: "cancelled" } })
      assert.deepStrictEqual([ended.status, ended.number("data.refundedTotal")], [200, 0])
      const failures = yield* api("GET", `/api/orders/${paid}/refunds`, { as: owner })
      assert.deepStrictEqual([failures.at("data.0.amount"), failures.at("data.0.status")], [2520, "failed"])
    }))

  it.effect("asks for the right to set what orders cost, and says what a rehearsal would do", () =>
    Effect.gen(function*() {
      const file = "orderNumber,status,placedAt,currency,grandTotal,line.title,line.quantity,line.unitPrice\n" +
        "B-1,confirmed,2020-01-01,usd,300,One,1,100\nB-1,,,,,Two,2,100\n"
      const keeper = { ...asStaff, permissions: ["orders:create", "orders:manage"] }
      const shopper = { ...asStaff, permissions: ["orders:create", "orders:read", "inventory:adjust"] }
      assert.strictEqual((yield* upload(file, { as: shopper, query: "kind=orders" })).status, 403)
      const dry = yield* imported(file, { as: keeper, query: "kind=orders&dryRun=true" })
      assert.deepStrictEqual(counts(dry), [1, 0, 0, 0])
      assert.strictEqual((yield* orderOf("B-1")).status, 404)
      assert.deepStrictEqual(counts(yield* imported(file, { as: keeper, query: "kind=orders" })), [1, 0, 0, 0])
      const elsewhere = yield* anOrganization
      assert.strictEqual((yield* orderOf("B-1", elsewhere)).status, 404)
      assert.strictEqual(yield* exported("orders", "jsonl", elsewhere), "")
    }))
})
