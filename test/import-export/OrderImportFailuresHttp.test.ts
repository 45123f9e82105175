import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { withApp } from "../support/TestApp.ts"
import { counts, imported, reasons } from "./ImportCalls.ts"
import { anOldOrder, importedOrders } from "./ImportedOrders.ts"

const line = { title: "Mug", quantity: 2, unitPrice: 1000 }

/** What is wrong with an order, and what the report says of it. */
const wrong: ReadonlyArray<readonly [changes: object, reason: string]> = [
  [{ grandTotal: 2521 }, "grandTotal is 2521, and what the order is made of comes to 2520"],
  [{ subtotal: 1 }, "subtotal is 1, and what the order is made of comes to 2500"],
  [{ discountTotal: 2501 }, "discountTotal is 2501, and what the order is made of comes to 2500"],
  [
    { lineItems: [{ ...line, totalPrice: 1999 }, { ...line, quantity: 1, unitPrice: 500 }] },
    "lineItems.0.totalPrice is 1999, and what the order is made of comes to 2000"
  ],
  [
    {
      lineItems: [{ ...line, discountAmount: 300, taxAmount: 100 }, {
        ...line,
        quantity: 1,
        unitPrice: 500,
        taxAmount: 19
      }]
    },
    "taxTotal is 120, and what the order is made of comes to 119"
  ],
  [{ taxIncluded: true, taxTotal: 9000, grandTotal: 2400 }, " The included tax exceeds the order."],
  [
    { lineItems: [{ title: "x", quantity: 2_147_483_647, unitPrice: Number.MAX_SAFE_INTEGER }] },
    " The line total is outside the range of amounts."
  ],
  [{ grandTotal: 25.2 }, "grandTotal Expected an integer"],
  [{ grandTotal: -1 }, "grandTotal Expected a value between 0 and 9007199254740991"],
  [{ amountCaptured: 2521 }, "amountCaptured is more than the grand total"],
  [{ refundedTotal: 2521 }, "refundedTotal is more than was captured"],
  [{ amountCaptured: null, refundedTotal: 1 }, "refundedTotal is more than was captured"],
  [
    { lineItems: [{ ...line, refundedQuantity: 3 }, { ...line, quantity: 1, unitPrice: 500 }] },
    "lineItems.0.refundedQuantity is more than the quantity"
  ],
  [{ status: "shipped" }, "status "],
  [{ currency: "XXX" }, "currency Unknown currency XXX"],
  [{ placedAt: "yesterday" }, "placedAt "],
  [{ placedAt: "2999-01-01" }, "placedAt lies in the future"],
  [{ email: "nobody" }, "email "],
  [{ lineItems: [] }, "lineItems "],
  [{ lineItems: [{ ...line, quantity: 0 }] }, "lineItems.0.quantity "],
  [{ colour: "red" }, "colour Expected no excess property"],
  [{ metadata: { a: "\0" } }, " It holds text that cannot be stored"],
  [{ orderNumber: "a/b" }, "orderNumber must have 1 to 64 characters"],
  [{ orderNumber: "01890a5d-ac96-774b-bcce-b302099a8057" }, "orderNumber must have 1 to 64 characters"],
  [{ orderNumber: "ORD-2021-9999999999999999999" }, "orderNumber is beyond 999999999 orders in a year"],
  [{ orderNumber: "ORD-2999-000001" }, "orderNumber is one of a year that has not come yet"]
]

withApp("an order of a file", (it) => {
  it.effect("that is wrong is refused with its line and its reason, and the others come in", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const orders = [
        ...wrong.map(([changes], n) => anOldOrder(`W-${n}`, changes)),
        anOldOrder("RIGHT", {})
      ]
      const done = yield* importedOrders(orders, { as })
      assert.deepStrictEqual(counts(done), [1, 0, 0, wrong.length])
      const recorded = yield* reasons(done.text("data.id"), as)
      for (const [n, [, reason]] of wrong.entries()) assert.include(recorded[n], `${n + 1}: ${reason}`)
      const [left] = yield* onDatabase((sql) =>
        sql`select (select count(*) from orders where organization_id = ${as.organizationId})::int4 as orders,
          (select count(*) from order_lines where organization_id = ${as.organizationId})::int4 as lines,
          (select count(*) from order_counters where organization_id = ${as.organizationId}
            and imported_to > 0)::int4 as counted`
      )
      assert.deepStrictEqual(left, { orders: 1, lines: 2, counted: 0 })
    }))

  it.effect("that is there with other content is refused, whatever differs, and never overwritten", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* importedOrders([anOldOrder("D-1")], { as })
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
        { lineItems: [{ title: "Mug", quantity: 2, unitPrice: 1000 }, { title: "Card", quantity: 1, unitPrice: 500 }] },
        { lineItems: [{ sku: "OLD-1", title: "Mug", quantity: 5, unitPrice: 500 }] }
      ]
      const done = yield* importedOrders(others.map((changes) => anOldOrder("D-1", changes)), { as })
      assert.deepStrictEqual(counts(done), [0, 0, 0, others.length])
      assert.deepStrictEqual(
        counts(yield* importedOrders([anOldOrder("D-1", { email: "BUYER@home.example" })], { as })),
        [
          0,
          0,
          1,
          0
        ]
      )
    }))

  it.effect("of several lines is one record, and one that comes back later in the file is another one", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const header = "orderNumber,status,placedAt,currency,grandTotal,line.title,line.quantity,line.unitPrice\n"
      const done = yield* imported(
        `${header}C-1,confirmed,2020-01-01,USD,300,One,1,100\nC-1,,,,,Two,2,100\nC-2,confirmed,2020-01-01,USD,1e2,x,1,100\n` +
          "C-1,confirmed,2020-01-01,USD,100,One,1,100\nC-3,confirmed,2020-01-01,USD,0,,,\n",
        { as, query: "kind=orders" }
      )
      assert.deepStrictEqual(counts(done), [1, 0, 0, 3])
      const [first, second, third] = yield* reasons(done.text("data.id"), as)
      assert.include(first, "4: grandTotal")
      assert.include(second, "5: orderNumber belongs to another order")
      assert.include(third, "6: lineItems")
    }))

  it.effect("that comes in twice at once is there once", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const orders = Array.from({ length: 30 }, (_, n) => anOldOrder(`ORD-2021-${String(n + 1).padStart(6, "0")}`))
      const done = yield* Effect.all([1, 2, 3].map(() => importedOrders(orders, { as })), { concurrency: "unbounded" })
      const sums = done.map(counts).reduce((left, right) => left.map((count, at) => count + (right[at] ?? 0)))
      assert.deepStrictEqual(sums, [30, 0, 60, 0])
    }))
})
