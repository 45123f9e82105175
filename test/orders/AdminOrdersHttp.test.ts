import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import {
  aProductInSizes,
  assertAddsUp,
  checkoutFailed,
  onDatabase,
  refused,
  stockOf
} from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff, at, withSharedApp } from "../support/TestApp.ts"
import { inOneMoment, setStatus as move, write } from "./OrderFixtures.ts"

const anOrder = Effect.fnUntraced(function*(entityId: string, quantity = 1, body: object = {}) {
  const answer = yield* write({ lineItems: [{ entityId, quantity }], ...body })
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer
})

const addLine = (orderId: string, body: object) =>
  api("POST", `/api/orders/${orderId}/line-items`, { as: asStaff, body })

const changeLine = (orderId: string, lineId: string, body: object, as: typeof asAdmin = asStaff) =>
  api("PATCH", `/api/orders/${orderId}/line-items/${lineId}`, { as, body })

const removeLine = (orderId: string, lineId: string) =>
  api("DELETE", `/api/orders/${orderId}/line-items/${lineId}`, { as: asStaff })

const read = (orderId: string) => api("GET", `/api/orders/${orderId}`, { as: asAdmin })

const setStatus = (orderId: string, status: string) => move({ id: orderId }, status, asStaff)

const reservedOf = (entityId: string) => Effect.map(stockOf(entityId), ({ reserved }) => reserved)

const lineOf = (order: Answer, index = 0) => order.text(`data.lineItems.${index}.id`)

const usesOf = (promotionId: string) =>
  Effect.map(
    onDatabase((sql) => sql<{ n: number }>`select used_count as n from promotions where id = ${promotionId}::uuid`),
    ([row]) => row?.n
  )

const aPromotion = (body: object) =>
  Effect.map(
    api("POST", "/api/promotions", { as: asAdmin, body: { name: "P", ...body } }),
    (made) => made.text("data.id")
  )

withSharedApp("orders that staff creates", (it) => {
  describe("an order", () => {
    it.effect("prices the lines from the catalog and holds their stock until the order is cancelled", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_250, stock: 5 })
        const order = yield* anOrder(entityId, 2)
        const unpaid = { status: "pending", amountCaptured: null, paymentIntentId: null, customerId: null }
        assert.deepInclude(order.at("data"), { ...unpaid, subtotal: 2_500, grandTotal: 2_500 })
        for (const field of ["createdAt", "isDraft"]) assert.notProperty(order.at("data"), field)
        assert.match(order.text("data.orderNumber"), /^ORD-\d{4}-\d{6}$/)
        assert.deepStrictEqual((yield* read(order.text("data.id"))).at("data.lineItems"), order.at("data.lineItems"))
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 2 })
        yield* setStatus(order.text("data.id"), "cancelled")
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      }))

    it.effect("does not read totals and prices that a shopper sends", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_000 })
        const line = { entityId, quantity: 1, unitPrice: 1, totalPrice: 1 }
        const money = { subtotal: 1, discountTotal: 5_000, grandTotal: -4_000, taxTotal: -1 }
        const order = yield* write({ ...money, lineItems: [line] }, asCustomer("shopper-1"))
        assert.strictEqual(order.status, 201)
        assert.strictEqual(order.number("data.grandTotal"), 1_000)
        assert.isString(order.at("data.customerId"))
        for (const more of [{ isCustomPrice: true, unitPrice: 1 }, { discountAmount: 1 }]) {
          const body = { lineItems: [{ entityId, quantity: 1, ...more }] }
          refused(yield* write(body, asCustomer("shopper-1")), 403, "FORBIDDEN")
          refused(yield* write(body, asStaff), 403, "FORBIDDEN")
        }
      }))

    it.effect("holds the stock of a shopper's unpaid order as long as a checkout does, and lets no visitor write one", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const staffOnly = { draft: true, note: "Mine.", email: "else@example.com" }
        const order = yield* write({ lineItems: [{ entityId, quantity: 1 }], ...staffOnly }, asCustomer("shopper-2"))
        const [row] = yield* onDatabase((sql) =>
          sql`select is_draft, email, round(extract(epoch from payment_due_at - placed_at) / 60)::int as minutes,
            (select count(*)::int4 from order_notes n where n.order_id = orders.id) as notes
            from orders where id = ${order.text("data.id")}::uuid`
        )
        assert.deepStrictEqual(row, { minutes: 15, is_draft: false, email: null, notes: 0 })
        const body = { currency: "USD", lineItems: [{ entityId, quantity: 1 }] }
        refused(yield* api("POST", "/api/orders", { body }), 401, "UNAUTHORIZED")
      }))

    it.effect("lets a shopper have three unpaid orders, also of eight at once, and the next when one is cancelled", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 10 })
        const shopper = asCustomer("shopper-hoarder")
        const one = write({ lineItems: [{ entityId, quantity: 1 }] }, shopper)
        yield* api("GET", "/api/me/profile", { as: shopper })
        const answers = yield* Effect.replicateEffect(one, 8, { concurrency: "unbounded" })
        const [made = [], others = []] = [201, 422].map((status) =>
          answers.filter((answer) => answer.status === status)
        )
        assert.deepStrictEqual([made.length, others.length], [3, 5])
        for (const answer of others) refused(answer, 422, "CHECKOUT_FAILED")
        assert.deepInclude(yield* stockOf(entityId), { reserved: 3 })
        yield* setStatus(made[0]?.text("data.id") ?? "", "cancelled")
        assert.strictEqual((yield* one).status, 201)
        refused(yield* one, 422, "CHECKOUT_FAILED")
        assert.strictEqual((yield* write({ lineItems: [{ entityId, quantity: 1 }] }, asStaff)).status, 201)
      }))

    it.effect("takes prices and discounts of orders:manage, never more than the line comes to", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_000 })
        const line = { entityId, quantity: 3, isCustomPrice: true, unitPrice: 700, discountAmount: 100 }
        const order = yield* write({ lineItems: [line, { entityId, quantity: 1 }] })
        assert.deepInclude(order.at("data"), { subtotal: 3_100, discountTotal: 100, grandTotal: 3_000 })
        assert.deepInclude(order.at("data.lineItems.0"), { isCustomPrice: true, unitPrice: 700, discountAmount: 100 })
        assert.deepInclude(order.at("data.lineItems.1"), { isCustomPrice: false, unitPrice: 1_000, discountAmount: 0 })
        refused(yield* write({ lineItems: [{ ...line, discountAmount: 2_101 }] }), 422, "CHECKOUT_FAILED")
        assert.strictEqual((yield* write({ lineItems: [{ ...line, discountAmount: 2_100 }] })).status, 201)
        const noPrice = yield* write({ lineItems: [{ entityId, quantity: 1, isCustomPrice: true }] })
        refused(noPrice, 422, "VALIDATION_FAILED")
        assert.strictEqual(noPrice.at("error.details.issues.0.path"), "lineItems.0.unitPrice")
      }))

    it.effect("keeps customer, address, e-mail, note and the draft flag", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const customer = yield* api("POST", "/api/customers", { as: asAdmin, body: { firstName: "Eve" } })
        const customerId = customer.text("data.id")
        const shippingAddress = { line1: "1 Way", city: "Town", postalCode: "1000 AA", country: "NL" }
        const said = { customerId, shippingAddress, email: "eve@example.com", note: "By telephone.", draft: true }
        const order = yield* anOrder(entityId, 1, said)
        assert.deepInclude(order.at("data"), { customerId, shippingAddress, isDraft: true })
        const notes = yield* api("GET", `/api/orders/${order.text("data.id")}/notes`, { as: asStaff })
        assert.deepInclude(notes.at("data.0"), { text: "By telephone.", visibility: "internal", authorName: "admin" })
      }))

    it.effect("leaves nothing behind when stock or price is missing", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 1 })
        const short = yield* write({ lineItems: [{ entityId, quantity: 2 }] })
        refused(short, 422, "CHECKOUT_FAILED")
        assert.match(short.text("error.message"), /Insufficient stock.*Available: 1, requested: 2/)
        const one = { entityId, quantity: 1 }
        const sized = yield* aProductInSizes()
        const rows: ReadonlyArray<readonly [body: object, status: number, code: string]> = [
          [{ currency: "EUR", lineItems: [one] }, 422, "CHECKOUT_FAILED"],
          [{ lineItems: [{ ...one, entityId: newId() }] }, 404, "NOT_FOUND"],
          [{ lineItems: [{ ...one, variantId: newId() }] }, 404, "NOT_FOUND"],
          [{ lineItems: [{ ...one, entityId: sized.entityId }] }, 422, "VALIDATION_FAILED"],
          [{ lineItems: [] }, 422, "VALIDATION_FAILED"],
          [{ lineItems: [{ ...one, quantity: 0 }] }, 422, "VALIDATION_FAILED"]
        ]
        for (const [body, status, code] of rows) refused(yield* write(body), status, code, JSON.stringify(body))
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 1, reserved: 0 })
      }))

    it.effect("gives its stock back when a code runs out in the moment it is created", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 9 })
        const tenth = { code: "LASTONE", type: "percentage_off_order", value: 10, usageLimitTotal: 1 }
        const promotion = yield* aPromotion(tenth)
        const order = write({ lineItems: [{ entityId, quantity: 2 }], promotionCodes: ["LASTONE"] })
        const answers = yield* inOneMoment(
          (sql) => sql`select 1 from promotions where id = ${promotion}::uuid for update`,
          [order, order]
        )
        assert.deepStrictEqual(answers.map(({ status }) => status), [201, 422])
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 9, reserved: 2 })
      }))

    it.effect("is created once for one idempotencyKey, in the body or the header, which is bound to its request", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 10 })
        const idempotencyKey = newId()
        const body = { lineItems: [{ entityId, quantity: 1 }], idempotencyKey, note: "Once." }
        const answers = yield* Effect.replicateEffect(write(body), 4, { concurrency: "unbounded" })
        assert.isTrue(answers.every(({ status }) => status === 201 || status === 409), JSON.stringify(answers))
        const first = yield* write(body)
        const inHeader = yield* write(body, asAdmin, { "idempotency-key": idempotencyKey })
        const made = [...answers.filter(({ status }) => status === 201), first, inHeader]
        assert.deepStrictEqual(new Set(made.map(({ status }) => status)), new Set([201]))
        assert.strictEqual(new Set(made.map((answer) => answer.text("data.id"))).size, 1)
        assert.strictEqual(yield* reservedOf(entityId), 1)
        const other = yield* write({ ...body, lineItems: [{ entityId, quantity: 2 }] })
        refused(other, 422, "VALIDATION_FAILED")
        assert.strictEqual(other.at("error.details.issues.0.code"), "key_reused")
        const short = yield* write({ ...body, idempotencyKey: "short" })
        assert.strictEqual(
          short.at("error.message"),
          "idempotencyKey must be a text of 8 to 255 visible ASCII characters."
        )
        const another = yield* write({ ...body, idempotencyKey: newId() })
        assert.notStrictEqual(another.text("data.id"), first.text("data.id"))
      }))

    it.effect("is refused when its reservation has run out before it is created", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 5 })
        // Reservations expire in the moment they are made.
        const expiring = onDatabase((sql) =>
          Effect.andThen(
            sql`create function ends_at_once() returns trigger language plpgsql as
              'begin new.state := ''expired''; return new; end'`,
            sql`create trigger ends_at_once before insert on holds for each row execute function ends_at_once()`
          )
        )
        const answer = yield* Effect.acquireUseRelease(
          expiring,
          () => write({ lineItems: [{ entityId, quantity: 1 }] }),
          () => onDatabase((sql) => sql`drop function ends_at_once cascade`)
        )
        checkoutFailed(answer, /reservation of the items has run out/)
        const lines = onDatabase((sql) => sql`select 1 from order_lines where entity_id = ${entityId}::uuid`)
        assert.deepStrictEqual(yield* lines, [])
      }))

    it.effect("is confirmed by staff when it was paid elsewhere", () =>
      Effect.gen(function*() {
        const order = yield* anOrder(yield* aProduct())
        const confirmed = yield* setStatus(order.text("data.id"), "confirmed")
        assert.strictEqual(confirmed.at("data.status"), "confirmed")
        refused(yield* addLine(order.text("data.id"), { entityId: newId(), quantity: 1 }), 404, "NOT_FOUND")
      }))
  })

  describe("line items", () => {
    it.effect("a line that is put in, changed and taken out moves totals and stock with it", () =>
      Effect.gen(function*() {
        const [lamp, chair] = [yield* aProduct({ price: 1_000, stock: 10 }), yield* aProduct({ price: 300, stock: 10 })]
        const id = (yield* anOrder(lamp, 2)).text("data.id")
        const added = yield* addLine(id, { entityId: chair, quantity: 3 })
        assert.deepStrictEqual([added.status, added.at("data.grandTotal")], [201, 2_900])
        assert.strictEqual(yield* reservedOf(chair), 3)
        const line = lineOf(added, 1)
        assert.strictEqual((yield* changeLine(id, line, { quantity: 1 })).at("data.grandTotal"), 2_300)
        assert.strictEqual(yield* reservedOf(chair), 1)
        assert.strictEqual((yield* addLine(id, { entityId: chair, quantity: 1 })).at("data.lineItems.1.quantity"), 2)
        assert.strictEqual(yield* reservedOf(chair), 2)
        assert.deepStrictEqual((yield* removeLine(id, line)).body, { data: { deleted: true } })
        assert.deepStrictEqual([yield* stockOf(lamp), yield* stockOf(chair)], [
          { onHand: 10, reserved: 2 },
          { onHand: 10, reserved: 0 }
        ])
        assert.deepInclude((yield* read(id)).at("data"), { subtotal: 2_000, grandTotal: 2_000 })
        for (const status of ["confirmed", "processing", "fulfilled"]) yield* setStatus(id, status)
        assert.deepStrictEqual(yield* stockOf(lamp), { onHand: 8, reserved: 0 })
      }))

    it.effect("lines that are not touched keep their price, a changed quantity asks the catalog again", () =>
      Effect.gen(function*() {
        const [lamp, chair] = [yield* aProduct({ price: 1_000 }), yield* aProduct({ price: 300 })]
        const order = yield* write({ lineItems: [{ entityId: lamp, quantity: 1 }, { entityId: chair, quantity: 1 }] })
        const id = order.text("data.id")
        for (const entityId of [lamp, chair]) {
          yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "USD", amount: 500 } })
        }
        const changed = yield* changeLine(id, lineOf(order, 1), { quantity: 2 })
        assert.deepStrictEqual(changed.list("data.lineItems").map((one) => at(one, "unitPrice")), [1_000, 500])
        // A price that staff gave stays with its line, and so does what staff took off it.
        yield* changeLine(id, lineOf(order, 1), { isCustomPrice: true, unitPrice: 400, discountAmount: 50 }, asAdmin)
        const more = yield* changeLine(id, lineOf(order, 1), { quantity: 3 })
        assert.deepInclude(more.at("data"), { subtotal: 2_200, discountTotal: 50, grandTotal: 2_150 })
        for (const money of [{ isCustomPrice: false }, { discountAmount: 0 }]) {
          refused(yield* changeLine(id, lineOf(order, 1), money), 403, "FORBIDDEN")
        }
        const back = yield* changeLine(id, lineOf(order, 1), { isCustomPrice: false, discountAmount: null }, asAdmin)
        assert.deepInclude(back.at("data"), { subtotal: 2_500, discountTotal: 0 })
      }))

    it.effect("promotions are evaluated again and their usage follows", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_000 })
        const code = "EDITTEN"
        const rule = { code, type: "percentage_off_order", value: 10, usageLimitTotal: 1 }
        const promotion = yield* aPromotion({ ...rule, conditions: { minimumOrderValue: 3_000 } })
        const order = yield* anOrder(entityId, 3, { promotionCodes: [code] })
        const [id, line] = [order.text("data.id"), lineOf(order)]
        assert.deepStrictEqual([order.at("data.discountTotal"), yield* usesOf(promotion)], [300, 1])
        for (const [quantity, discount, uses] of [[5, 500, 1], [2, 0, 0], [3, 300, 1]] as const) {
          const changed = yield* changeLine(id, line, { quantity })
          assert.deepStrictEqual([changed.at("data.discountTotal"), yield* usesOf(promotion)], [discount, uses])
          assertAddsUp(changed)
        }
        yield* setStatus(id, "cancelled")
        assert.strictEqual(yield* usesOf(promotion), 0)
      }))

    it.effect("of edits at the same moment none is lost", () =>
      Effect.gen(function*() {
        const shelf = yield* Effect.forEach(Array.from({ length: 5 }), () => aProduct({ price: 100, stock: 10 }))
        const [first = ""] = shelf
        const id = (yield* anOrder(first, 1)).text("data.id")
        const edits = shelf.map((entityId) => addLine(id, { entityId, quantity: 2 }))
        const answers = yield* Effect.all(edits, { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201, 201, 201, 201])
        const order = yield* read(id)
        assert.strictEqual(order.number("data.grandTotal"), 1_100)
        assert.strictEqual(order.list("data.lineItems").length, 5)
        assert.deepStrictEqual(yield* Effect.forEach(shelf, reservedOf), [3, 2, 2, 2, 2])
      }))

    it.effect("the same thing twice is one line unless staff says what it costs; more of it goes to one line", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 20 })
        const lineItems = [
          { entityId, quantity: 1, isCustomPrice: true, unitPrice: 400 },
          { entityId, quantity: 1 },
          { entityId, quantity: 2 },
          { entityId, quantity: 1, discountAmount: 50 }
        ]
        const quantitiesOf = (order: Answer) => order.list("data.lineItems").map((line) => at(line, "quantity"))
        const order = yield* write({ lineItems })
        assert.deepStrictEqual(quantitiesOf(order), [1, 3, 1])
        const more = yield* addLine(order.text("data.id"), { entityId, quantity: 2 })
        assert.deepStrictEqual(quantitiesOf(more), [1, 5, 1])
        assert.strictEqual(yield* reservedOf(entityId), 7)
      }))

    it.effect("409 when the payment begins or the order leaves pending while an edit is decided", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        for (const set of ["status = 'confirmed'", "payment_intent_id = 'pi_1'", "amount_captured = grand_total"]) {
          const order = yield* anOrder(entityId)
          const id = order.text("data.id")
          const [late] = yield* inOneMoment(
            (sql) => sql`update orders set ${sql.literal(set)} where id = ${id}::uuid`,
            [changeLine(id, lineOf(order), { quantity: 2 })]
          )
          assert.strictEqual(late?.at("error.code"), "CONFLICT", set)
          assert.strictEqual((yield* read(id)).number("data.lineItems.0.quantity"), 1, set)
        }
      }))

    it.effect("refuses more than there is, and changes nothing then", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 3 })
        const order = yield* anOrder(entityId, 2)
        const [id, line] = [order.text("data.id"), lineOf(order)]
        const answer = yield* changeLine(id, line, { quantity: 4 })
        refused(answer, 422, "VALIDATION_FAILED")
        assert.strictEqual(answer.at("error.details.issues.0.code"), "insufficient_stock")
        assert.deepStrictEqual((yield* read(id)).at("data"), order.at("data"))
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 3, reserved: 2 })
      }))

    it.effect("does nothing for what is so already", () =>
      Effect.gen(function*() {
        const order = yield* anOrder(yield* aProduct(), 2)
        const same = yield* changeLine(order.text("data.id"), lineOf(order), { quantity: 2 })
        assert.deepStrictEqual([same.status, same.at("data")], [200, order.at("data")])
      }))

    it.effect("the last line stays, and unknown lines and orders are refused", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const order = yield* anOrder(entityId)
        const [id, line] = [order.text("data.id"), lineOf(order)]
        refused(yield* removeLine(id, line), 422, "VALIDATION_FAILED")
        refused(yield* removeLine(id, newId()), 404, "NOT_FOUND")
        refused(yield* changeLine(id, newId(), { quantity: 2 }), 404, "NOT_FOUND")
        refused(yield* changeLine(newId(), line, { quantity: 2 }), 404, "NOT_FOUND")
        refused(yield* changeLine(id, line, { quantity: 0 }), 422, "VALIDATION_FAILED")
        refused(yield* addLine(id, { entityId, quantity: 1, discountAmount: 1 }), 403, "FORBIDDEN")
      }))

    it.effect("409 once the payment has begun or the order has left pending", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const paid = yield* checkOut(yield* aCartWith(entityId))
        const begun = yield* changeLine(paid.text("data.id"), lineOf(paid), { quantity: 2 })
        refused(begun, 409, "CONFLICT")
        assert.match(begun.text("error.message"), /payment of the order has begun/)
        const order = yield* anOrder(entityId)
        yield* setStatus(order.text("data.id"), "confirmed")
        const late = yield* addLine(order.text("data.id"), { entityId, quantity: 1 })
        refused(late, 409, "CONFLICT")
        assert.match(late.text("error.message"), /only pending orders/)
      }))
  })
})
