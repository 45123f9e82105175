import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, addTo, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asStaff, withApp } from "../support/TestApp.ts"
import {
  anOldOrder,
  aStore,
  counts,
  exported,
  imported,
  importedOrders,
  reasons,
  upload,
  withReasons
} from "./ImportFixtures.ts"

const as = asAdmin
const line = { title: "Mug", quantity: 2, unitPrice: 1000 }
const card = { ...line, quantity: 1, unitPrice: 500 }

/** Buys something as a guest and returns the order. */
const bought = Effect.fnUntraced(function*(entityId: string, body: object = {}) {
  const created = yield* checkOut(yield* aCartWith(entityId, 2), body)
  assert.strictEqual(created.status, 201, JSON.stringify(created.body))
  return created
})

const orderOf = (number: string, who = as) => api("GET", `/api/orders/${encodeURIComponent(number)}`, { as: who })

/** The counts of an import of orders, and the reasons of its refusals. */
const sent = Effect.fnUntraced(function*(who: typeof as, ...orders: ReadonlyArray<object>) {
  const done = yield* importedOrders(orders, { as: who })
  return [...counts(done), ...yield* reasons(done.text("data.id"), who)]
})

/** Changes that make an order invalid, and the reason in the report. */
const wrong: ReadonlyArray<readonly [changes: object, reason: string]> = [
  [{ grandTotal: 2521 }, "grandTotal grandTotal must be 2520, which the order comes to, and is 2521."],
  [{ subtotal: 1 }, "subtotal subtotal must be 2500, which the order comes to, and is 1."],
  [{ discountTotal: 2501 }, "discountTotal discountTotal must be 2500, which the order comes to, and is 2501."],
  [
    { lineItems: [{ ...line, totalPrice: 1999 }, card] },
    "lineItems.0.totalPrice lineItems.0.totalPrice must be 2000, which the order comes to, and is 1999."
  ],
  [
    { lineItems: [{ ...line, discountAmount: 300, taxAmount: 100 }, { ...card, taxAmount: 19 }] },
    "taxTotal taxTotal must be 119, which the order comes to, and is 120."
  ],
  [{ taxIncluded: true, taxTotal: 9000, grandTotal: 2400 }, " The included tax exceeds the order."],
  [
    { lineItems: [{ title: "x", quantity: 2_147_483_647, unitPrice: Number.MAX_SAFE_INTEGER }] },
    " The line total is outside the range of amounts."
  ],
  [{ grandTotal: 25.2 }, "grandTotal grandTotal must be a whole number."],
  [{ grandTotal: -1 }, "grandTotal grandTotal must be between 0 and 9007199254740991."],
  [{ amountCaptured: 2521 }, "amountCaptured amountCaptured must not be more than grandTotal."],
  [{ refundedTotal: 2521 }, "refundedTotal refundedTotal must not be more than amountCaptured."],
  [{ amountCaptured: null, refundedTotal: 1 }, "refundedTotal refundedTotal must not be more than amountCaptured."],
  [
    { lineItems: [{ ...line, refundedQuantity: 3 }, card] },
    "lineItems.0.refundedQuantity lineItems.0.refundedQuantity must not be more than quantity."
  ],
  [{ status: "shipped" }, "status "],
  [{ currency: "XXX" }, "currency currency must be the code of a current currency, such as EUR."],
  [{ placedAt: "yesterday" }, "placedAt "],
  [{ placedAt: "2999-01-01" }, "placedAt placedAt must not lie in the future."],
  [{ lineItems: [] }, "lineItems "],
  [{ lineItems: [{ ...line, quantity: 0 }] }, "lineItems.0.quantity "],
  [{ colour: "red" }, "colour colour is not a known field. Leave it out."],
  [{ metadata: { a: "\0" } }, " It holds text that cannot be stored"],
  [{ orderNumber: "a/b" }, "orderNumber orderNumber must have 1 to 64 characters"],
  [{ orderNumber: "01890a5d-ac96-774b-bcce-b302099a8057" }, "orderNumber orderNumber must have 1 to 64 characters"],
  [
    { orderNumber: "ORD-2021-9999999999999999999" },
    "orderNumber orderNumber must not be above 999999999 orders in a year."
  ],
  [{ orderNumber: "ORD-2999-000001" }, "orderNumber orderNumber must not be of a year to come."]
]

withApp("imports of orders", (it) => {
  it.effect("never take a number that the store gives out, and the store's counter skips imported numbers", () =>
    Effect.gen(function*() {
      const mug = yield* aProduct({ slug: "mug" })
      const number = (n: number) => `ORD-${new Date().getUTCFullYear()}-${String(n).padStart(6, "0")}`
      const next = Effect.map(bought(mug), (order) => order.text("data.orderNumber"))
      const send = (...numbers: ReadonlyArray<number>) => sent(as, ...numbers.map((n) => anOldOrder(number(n))))
      assert.strictEqual(yield* next, number(1))
      assert.deepStrictEqual(yield* send(2, 3, 4, 5), [4, 0, 0, 0])
      assert.strictEqual(yield* next, number(6))
      assert.deepStrictEqual(
        yield* send(7, 10, 6),
        withReasons(
          [1, 0, 0, 2],
          "1: orderNumber orderNumber must not be one that this store gives to orders.",
          "3: orderNumber orderNumber belongs to another order, and orders are not overwritten."
        )
      )
      assert.deepStrictEqual([yield* next, yield* next], [number(7), number(11)])
      assert.deepStrictEqual(yield* sent(as, anOldOrder("ORD-0001-000001")), [1, 0, 0, 0])
      assert.lengthOf(yield* onDatabase((sql) => sql`select 1 from order_counters`), 1)
      // The counter has skipped 8 and 9: no order has them.
      assert.deepStrictEqual((yield* send(9, 8, 12)).slice(0, 4), [2, 0, 0, 1])
      const [counter] = yield* onDatabase((sql) => sql`select last_number::int4 as last from order_counters`)
      assert.isAbove(Number(counter?.["last"]), 11)
    }))

  it.effect("give another store the same orders to the byte, as CSV and as lines of JSON", () =>
    Effect.gen(function*() {
      const [mug, card] = [yield* aProduct({ slug: "cup", price: 1999 }), yield* aProduct({ slug: "card", price: 333 })]
      const cart = yield* aCartWith(mug, 3)
      yield* addTo(cart, card, 7)
      const address = { line1: "1 Main St", city: "Town", postalCode: "1000 AA", country: "NL" }
      const order = yield* checkOut(cart, { shippingAddress: address, metadata: { "=gift": "'yes" } })
      assert.strictEqual(order.status, 201, JSON.stringify(order.body))
      const back = yield* bought(mug)
      yield* api("POST", `/api/orders/${back.text("data.id")}/refund`, { as, body: { amount: 500 } })
      const ended = yield* bought(card)
      yield* api("PATCH", `/api/orders/${ended.text("data.id")}/status`, { as, body: { status: "cancelled" } })
      const catalog = yield* exported("catalog", "jsonl")
      const files = { csv: yield* exported("orders"), jsonl: yield* exported("orders", "jsonl") }
      for (const [format, file] of Object.entries(files)) {
        const store = yield* aStore
        yield* store.send(catalog)
        const query = `kind=orders&format=${format}`
        const [created, updated, unchanged, ...refused] = yield* store.send(file, query)
        assert.deepStrictEqual([updated, unchanged, ...refused], [0, 0, 0])
        const again = { csv: yield* store.exported("orders", "csv"), jsonl: yield* store.exported("orders") }
        assert.deepStrictEqual(again, files)
        assert.deepStrictEqual(yield* store.send(file, query), [0, 0, created, 0])
      }
      const itself = yield* imported(files.csv, { query: "kind=orders" })
      assert.strictEqual(itself.number("data.unchanged"), itself.number("data.rows"))
    }))

  it.effect("keep what is no e-mail address as it was given, with a warning", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      const number = `#${randomUUID()}`
      const file = JSON.stringify({ ...anOldOrder(number), email: "sold by phone" })
      const done = yield* imported(file, { as: owner, query: "kind=orders&format=jsonl" })
      assert.deepStrictEqual([done.at("data.created"), done.at("data.warned")], [1, 1])
      assert.include(yield* exported("orders", "jsonl", owner), "\"email\":\"sold by phone\"")
    }))

  it.effect("split totals as a checkout splits them, under the order's number and day", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      assert.deepStrictEqual(yield* sent(owner, anOldOrder("#1001")), [1, 0, 0, 0])
      const found = yield* orderOf("#1001", owner)
      assert.deepInclude(found.at("data"), {
        status: "fulfilled",
        placedAt: "2021-03-04T05:06:07.089Z",
        subtotal: 2500,
        grandTotal: 2520,
        amountCaptured: 2520,
        refundedTotal: 0,
        customerId: null
      })
      assert.isString(found.at("data.importedAt"))
      const ofLine = { fulfillmentStatus: "fulfilled" }
      assert.deepInclude(found.at("data.lineItems.0"), {
        ...ofLine,
        totalPrice: 2000,
        discountAmount: 240,
        taxAmount: 96
      })
      assert.deepInclude(found.at("data.lineItems.1"), {
        ...ofLine,
        totalPrice: 500,
        discountAmount: 60,
        taxAmount: 24
      })
      const timeDimensions = [{ dimension: "Orders.placedAt", dateRange: ["2021-03-04", "2021-03-04"] }]
      const body = { measures: ["Orders.revenue"], timeDimensions }
      const sold = yield* api("POST", "/api/analytics/query", { as: owner, body })
      assert.include(JSON.stringify(sold.body), "2520")
    }))

  it.effect("move the counter of their store and year only", () =>
    Effect.gen(function*() {
      const [{ as: owner }, { as: other }] = [yield* aStore, yield* aStore]
      for (const who of [owner, other]) {
        assert.deepStrictEqual(yield* sent(who, anOldOrder("ORD-2019-000007")), [1, 0, 0, 0])
      }
      yield* sent(owner, anOldOrder("ORD-2019-000070"))
      const rows = yield* onDatabase((sql) =>
        sql<{ readonly to: number }>`select imported_to::int4 as to from order_counters where year = 2019
          and organization_id in (${owner.organizationId}, ${other.organizationId}) order by 1`
      )
      assert.deepStrictEqual(rows.map(({ to }) => to), [7, 70])
    }))

  it.effect("change no stock, money, promotion, mail, job or webhook, and run no hook of a sale", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
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

  it.effect("belong to the customer of their e-mail address, if only that one can own it", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
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
        "unknown@home.example"
      ]
      const done = yield* importedOrders(emails.map((email, n) => anOldOrder(`A-${n}`, { email })), { as: owner })
      assert.deepStrictEqual(counts(done), [5, 0, 0, 0])
      const owners = yield* Effect.forEach(emails, (_, n) => orderOf(`A-${n}`, owner))
      assert.deepStrictEqual(
        owners.map((order) => order.at("data.customerId")),
        [made.text("data.id"), null, null, proven.text("data.id"), null]
      )
      const owned = yield* api("GET", `/api/customers/${made.text("data.id")}/orders`, { as: owner })
      assert.strictEqual(owned.number("meta.pagination.total"), 1)
    }))

  it.effect("refund no more than was captured, and issue no second invoice", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
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

  it.effect("keep their lines as they were sold, while their status can change", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
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

  it.effect("need the permission to set prices of orders, and a rehearsal writes nothing", () =>
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
      const { as: elsewhere } = yield* aStore
      assert.strictEqual((yield* orderOf("B-1", elsewhere)).status, 404)
      assert.strictEqual(yield* exported("orders", "jsonl", elsewhere), "")
    }))

  it.effect("keep a text that is no e-mail address, with a warning, and change nothing when they come again", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      for (const expected of [[1, 0, 0, 0], [0, 0, 1, 0]]) {
        const done = yield* importedOrders([anOldOrder("NO-MAIL", { email: "no address" })], { as: owner })
        assert.deepStrictEqual([...counts(done), done.number("data.warned")], [...expected, 1])
      }
      assert.include(yield* exported("orders", "jsonl", owner), "\"email\":\"no address\"")
    }))

  it.effect("refuse invalid orders with their lines and reasons, and take the others", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      const orders = [...wrong.map(([changes], n) => anOldOrder(`W-${n}`, changes)), anOldOrder("RIGHT", {})]
      const [created, , , refused, ...recorded] = yield* sent(owner, ...orders)
      assert.deepStrictEqual([created, refused], [1, wrong.length])
      for (const [n, [, reason]] of wrong.entries()) assert.include(String(recorded[n]), `${n + 1}: ${reason}`)
      const [left] = yield* onDatabase((sql) =>
        sql`select (select count(*) from orders where organization_id = ${owner.organizationId})::int4 as orders,
          (select count(*) from order_lines where organization_id = ${owner.organizationId})::int4 as lines,
          (select count(*) from order_counters where organization_id = ${owner.organizationId}
            and imported_to > 0)::int4 as counted`
      )
      assert.deepStrictEqual(left, { orders: 1, lines: 2, counted: 0 })
    }))

  it.effect("never overwrite an order, whichever field differs", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      yield* sent(owner, anOldOrder("D-1"))
      const others = [
        { status: "processing" },
        { placedAt: "2021-03-04T05:06:07.090Z" },
        { email: "other@home.example" },
        { currency: "USD" },
        { amountCaptured: 2519 },
        { refundedTotal: 1 },
        { shippingTotal: 201, grandTotal: 2521 },
        { metadata: { note: "x" } },
        { shippingAddress: { city: "Town" } },
        { cancelledAt: "2021-03-05" },
        { lineItems: [line, { ...card, title: "Card" }] },
        { lineItems: [{ ...line, notes: "Gift" }, card] },
        { lineItems: [{ ...line, metadata: { colour: "red" } }, card] },
        { lineItems: [{ ...line, priceSteps: [{ code: "a", label: "A", amountPerUnit: 1 }] }, card] },
        { lineItems: [{ ...line, sku: "OLD-1", quantity: 5, unitPrice: 500 }] }
      ]
      const done = yield* sent(owner, ...others.map((changes) => anOldOrder("D-1", changes)))
      assert.deepStrictEqual(done.slice(0, 4), [0, 0, 0, others.length])
      assert.deepStrictEqual(yield* sent(owner, anOldOrder("D-1", { email: "BUYER@home.example" })), [0, 0, 1, 0])
      const priceSteps = [{ code: "wrapping", label: "Wrapping", amountPerLine: -20 }]
      const gift = { ...line, notes: "Gift", metadata: { colour: "red" }, priceSteps, totalPrice: 1_980 }
      const noted = anOldOrder("D-2", { grandTotal: 2_500, amountCaptured: 2_500, lineItems: [gift, card] })
      assert.deepStrictEqual([yield* sent(owner, noted), yield* sent(owner, noted)], [[1, 0, 0, 0], [0, 0, 1, 0]])
      const stored = (yield* orderOf("D-2", owner)).at("data.lineItems.0")
      assert.deepInclude(stored, { notes: "Gift", metadata: { colour: "red" }, priceSteps })
    }))

  it.effect("read consecutive lines of a number as one order, and later ones as another record", () =>
    Effect.gen(function*() {
      const { send } = yield* aStore
      const header = "orderNumber,status,placedAt,currency,grandTotal,line.title,line.quantity,line.unitPrice\n"
      const [created, , , refused, first, second, third] = yield* send(
        `${header}C-1,confirmed,2020-01-01,USD,300,One,1,100\nC-1,,,,,Two,2,100\nC-2,confirmed,2020-01-01,USD,1e2,x,1,100\n` +
          "C-1,confirmed,2020-01-01,USD,100,One,1,100\nC-3,confirmed,2020-01-01,USD,0,,,\n",
        "kind=orders"
      )
      assert.deepStrictEqual([created, refused], [1, 3])
      assert.include(String(first), "4: grandTotal")
      assert.include(String(second), "5: orderNumber orderNumber belongs to another order")
      assert.include(String(third), "6: lineItems")
    }))

  it.effect("create an order once when two imports bring it at the same time", () =>
    Effect.gen(function*() {
      const { as: owner } = yield* aStore
      const orders = Array.from({ length: 30 }, (_, n) => anOldOrder(`ORD-2021-${String(n + 1).padStart(6, "0")}`))
      const done = yield* Effect.all([1, 2, 3].map(() => importedOrders(orders, { as: owner })), {
        concurrency: "unbounded"
      })
      const sums = done.map(counts).reduce((left, right) => left.map((count, at) => count + (right[at] ?? 0)))
      assert.deepStrictEqual(sums, [30, 0, 60, 0])
    }))
})
