import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, at, inOrganization, withApp } from "../support/TestApp.ts"
import { changeLogAtRest, tables } from "../tenancy/Footprint.ts"
import { anAddress } from "../tenancy/Stores.ts"
import { entriesOf } from "./CustomerFixtures.ts"

/** Words that occur nowhere else in these tests: a row with one of them identifies the person. */
const words = ["Annabel", "Quitter", "annabel@quit.test", "+31-555-0199", "Herengracht", "remembers-her-cat"] as const
const [firstName, lastName, email, phone, street, memory] = words

const annabel = { ...asCustomer("annabel"), email, name: `${firstName} ${lastName}` }

const as = (who: typeof asAdmin, method: string, path: string, body?: object) =>
  Effect.flatMap(api(method, path, { as: who, ...(body && { body }) }), (answer) =>
    answer.status < 300
      ? Effect.succeed(answer)
      : Effect.die(new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)))

/** A customer with personal data of every kind. */
const aKnownCustomer = Effect.fnUntraced(function*(who: typeof asAdmin) {
  const profile = yield* as(who, "GET", "/api/me/profile")
  yield* as(who, "PATCH", "/api/me/profile", { phone, metadata: { memory } })
  yield* as(who, "POST", "/api/me/addresses", { ...anAddress, firstName, lastName, line1: street, phone })
  const id = profile.text("data.id")
  yield* as(asAdmin, "POST", `/api/customers/${id}/interactions`, { kind: "call", notes: `${firstName} ${memory}` })
  const group = yield* as(asAdmin, "POST", "/api/customers/groups", { name: `Group of ${who.userId}` })
  yield* as(asAdmin, "POST", `/api/customers/groups/${group.text("data.id")}/members/${id}`)
  const entityId = yield* aProduct()
  const cart = (yield* as(who, "POST", "/api/carts", { currency: "USD", email })).text("data.id")
  yield* as(who, "POST", `/api/carts/${cart}/items`, { entityId, quantity: 1 })
  const order = yield* as(who, "POST", "/api/checkout", {
    cartId: cart,
    paymentMethodId: "test",
    currency: "USD",
    shippingAddress: { line1: street, city: "Town", postalCode: "1000 AA", country: "NL" },
    billingAddress: { lastName, line1: street, city: "Town", postalCode: "1000 AA", country: "NL" },
    metadata: { memory }
  })
  yield* onDatabase((sql) =>
    sql`with lines as (update order_lines set metadata = ${JSON.stringify({ memory })}::jsonb
        where order_id = ${order.text("data.id")}::uuid)
      update cart_lines set notes = ${memory} where cart_id = ${cart}::uuid`
  )
  const purged = (yield* as(who, "POST", "/api/carts", { currency: "USD", email })).text("data.id")
  yield* onDatabase((sql) => sql`delete from carts where id = ${purged}::uuid`)
  const open = (yield* as(who, "POST", "/api/carts", { currency: "USD", email })).text("data.id")
  return { id, order: order.text("data.id"), cart: open, group: group.text("data.id") }
})

/** Records of staff about a paid order: a note, a shipment, an invoice, a failed refund, a reason. */
const orderKnown = Effect.fnUntraced(function*(orderId: string) {
  const order = yield* as(asAdmin, "GET", `/api/orders/${orderId}`)
  const lineItems = [{ orderLineItemId: order.text("data.lineItems.0.id"), quantity: 1 }]
  yield* as(asAdmin, "POST", `/api/orders/${orderId}/notes`, { text: `${firstName} ${memory}` })
  yield* as(asAdmin, "PATCH", `/api/orders/${orderId}/status`, { status: "confirmed", reason: `${firstName} called` })
  yield* as(asAdmin, "PATCH", `/api/orders/${orderId}/status`, { status: "processing", reason: "paid_in_cash" })
  const parcel = yield* as(asAdmin, "POST", `/api/orders/${orderId}/fulfillments`, {
    lineItems,
    type: "physical",
    carrier: "post",
    trackingNumber: memory,
    trackingUrl: `https://carrier.test/${memory}`,
    metadata: { left: `with ${firstName}` }
  })
  yield* as(asAdmin, "POST", `/api/orders/${orderId}/refund`, { amount: 100, reason: `${lastName} complained` })
  yield* as(asAdmin, "POST", `/api/orders/${orderId}/refund`, {
    amount: 1,
    givenOutside: { means: "Bank transfer", reference: memory }
  })
  const back = yield* as(asAdmin, "POST", `/api/orders/${orderId}/returns`, {
    lines: [{ lineItemId: order.at("data.lineItems.0.id"), quantity: 1, reason: memory }],
    photos: [`https://pictures.test/${memory}`]
  })
  yield* as(asAdmin, "POST", `/api/orders/${orderId}/returns/${back.at("data.id")}/reject`, { reason: memory })
  yield* as(asAdmin, "GET", `/api/orders/${orderId}/invoice.html`)
  yield* onDatabase((sql) =>
    sql`insert into compensation_failures (id, organization_id, kind, status, order_id, amount, message, note)
      values (gen_random_uuid(), 'org_default', 'void_failed', 'resolved', ${orderId}::uuid, 100, 'never answered',
        ${`rang ${firstName}`})`
  )
  return { parcel: parcel.text("data.id") }
})

/** Fulfils an order. */
const fulfilled = (orderId: string) =>
  Effect.forEach(
    ["confirmed", "processing", "fulfilled"],
    (status) => as(asAdmin, "PATCH", `/api/orders/${orderId}/status`, { status })
  )

/** The tables with one of the words. */
const namingTables = Effect.flatMap(tables, (all) =>
  Effect.map(
    Effect.forEach(all, ({ name }) =>
      onDatabase((sql) =>
        Effect.map(
          sql`select 1 from ${sql(name)} t where t::text like any(${words.map((word) => `%${word}%`)}::text[]) limit 1`,
          (rows) => rows.length === 0 ? [] : [name]
        )
      )),
    (found) => found.flat()
  ))

withApp("the export of personal data", (it) => {
  it.effect("the export of personal data contains all data of the caller and none of others", () =>
    Effect.gen(function*() {
      const known = yield* aKnownCustomer(annabel)
      yield* aKnownCustomer({ ...asCustomer("another"), name: "Another" })
      const all = yield* as(annabel, "GET", "/api/me/export")
      assert.hasAllKeys(all.at("data"), [
        "exportedAt",
        "profile",
        "addresses",
        "orders",
        "carts",
        "interactions",
        "notes",
        "refunds",
        "fulfillments",
        "returns",
        "invoices",
        "plugins"
      ])
      assert.deepInclude(all.at("data.profile"), { id: known.id, email, phone, firstName, groupIds: [known.group] })
      assert.deepInclude(all.at("data.addresses.0"), { line1: street })
      assert.deepStrictEqual(all.list("data.orders").map((one) => at(one, "id")), [known.order])
      assert.strictEqual(all.at("data.orders.0.lineItems.0.quantity"), 1)
      assert.strictEqual(all.list("data.carts").length, 2)
      assert.deepInclude(all.at("data.carts.0"), { id: known.cart, email })
      assert.notInclude(JSON.stringify(all.body), "secret")
      assert.deepStrictEqual(all.list("data.interactions").map((one) => at(one, "notes")), [`${firstName} ${memory}`])
    }))
})

withApp("records about a customer's orders", (it) => {
  it.effect("records about a customer's orders are exported to the customer and erased with them; the invoice stays as issued", () =>
    Effect.gen(function*() {
      const who = { ...annabel, userId: "annabel-written" }
      const known = yield* aKnownCustomer(who)
      const { parcel } = yield* orderKnown(known.order)
      const shown = yield* as(who, "GET", "/api/me/export")
      assert.deepInclude(shown.at("data.notes.0"), { orderId: known.order, text: `${firstName} ${memory}` })
      assert.notProperty(shown.at("data.notes.0"), "authorName")
      assert.deepInclude(shown.at("data.refunds.1"), { amount: 100, reason: `${lastName} complained` })
      assert.deepInclude(shown.at("data.fulfillments.0"), { id: parcel, trackingNumber: memory, carrier: "post" })
      assert.deepInclude(shown.at("data.returns.0"), {
        orderId: known.order,
        status: "rejected",
        rejectionReason: memory,
        photos: [`https://pictures.test/${memory}`]
      })
      assert.include(JSON.stringify(shown.at("data.invoices.0.content")), street)
      const invoice = `/api/orders/${known.order}/invoice.html`
      const issued = yield* as(asAdmin, "GET", invoice)

      yield* onDatabase((sql) => sql`update orders set status = 'fulfilled' where id = ${known.order}::uuid`)
      yield* changeLogAtRest
      yield* as(who, "DELETE", "/api/me")
      yield* changeLogAtRest
      const passing = ["cluster_messages", "cluster_replies", "holds", "idempotency_keys"]
      assert.deepStrictEqual((yield* namingTables).filter((table) => !passing.includes(table)), ["invoices"])
      assert.strictEqual((yield* as(asAdmin, "GET", invoice)).body, issued.body)
      const refund = yield* as(asAdmin, "GET", `/api/orders/${known.order}/refunds`)
      assert.deepInclude(refund.at("data.1"), { amount: 100, reason: "erased" })
      const timeline = yield* as(asAdmin, "GET", `/api/orders/${known.order}/timeline?limit=100`)
      const reasons = timeline.list("data").map((one) => at(one, "data.reason")).filter((one) =>
        typeof one === "string"
      )
      assert.includeMembers(reasons, ["erased", "paid_in_cash"])
    }))
})

withApp("the erasure of a person", (it) => {
  it.effect("the erasure of a person leaves orders without a name, and no personal data in any lasting table", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const known = yield* aKnownCustomer(annabel)
      yield* fulfilled(known.order)
      const before = yield* api("GET", `/api/orders/${known.order}`, { as: asAdmin })
      yield* changeLogAtRest
      const passing = ["cluster_messages", "cluster_replies", "holds", "idempotency_keys"]
      assert.includeMembers(yield* namingTables, [
        "customers",
        "customer_addresses",
        "orders",
        "carts",
        "outbox_events"
      ])

      const headers = { "idempotency-key": "annabel-leaves" }
      const gone = yield* api("DELETE", "/api/me", { as: annabel, headers })
      assert.deepStrictEqual([gone.status, gone.at("data")], [200, { deleted: true }])
      assert.deepStrictEqual((yield* api("DELETE", "/api/me", { as: annabel, headers })).body, gone.body)

      const left = (yield* namingTables).filter((table) => !passing.includes(table))
      assert.deepStrictEqual(left, [])
      const after = yield* api("GET", `/api/orders/${known.order}`, { as: asAdmin })
      const { metadata, updatedAt: _, ...kept } = Object(before.at("data"))
      const { billingAddress: __, memory: ___, shippingAddress: ____, ...words } = metadata
      const lineItems = before.list("data.lineItems").map((line) => ({ ...Object(line), metadata: {} }))
      assert.deepInclude(after.at("data"), {
        ...kept,
        customer: { id: known.id, name: null },
        email: null,
        shippingAddress: null,
        billingAddress: null,
        metadata: words,
        lineItems
      })
      refused(yield* api("GET", `/api/customers/${known.id}`, { as: asAdmin }), 404, "NOT_FOUND")
      refused(yield* api("GET", `/api/carts/${known.cart}`, { as: annabel }), 404, "NOT_FOUND")
      assert.notInclude(JSON.stringify((yield* api("GET", "/api/customers", { as: asAdmin })).body), known.id)
      const members = yield* api("GET", `/api/customers/groups/${known.group}/members`, { as: asAdmin })
      assert.deepStrictEqual(members.list("data"), [])
    }))

  it.effect("the erasure of a person is recorded once as a change of the profile, and earlier entries no longer name the person", () =>
    Effect.gen(function*() {
      const who = { ...annabel, userId: "annabel-2" }
      const known = yield* aKnownCustomer(who)
      yield* fulfilled(known.order)
      yield* changeLogAtRest
      yield* as(who, "DELETE", "/api/me")
      yield* changeLogAtRest
      const entries = yield* entriesOf(known.id)
      const [update, erase] = entries.slice(-2)
      assert.deepInclude(update, { type: "customers.update", actor_id: "annabel-2", ip: null, user_agent: null })
      assert.deepInclude(update?.payload, { id: known.id, userId: null, email: null, firstName: null, metadata: {} })
      assert.deepInclude(update?.before, { userId: "annabel-2", email: null, firstName: null, metadata: {} })
      assert.deepInclude(erase, { type: "customers.delete", ip: null })
      assert.deepInclude(erase?.payload, { addresses: 1, interactions: 1, orders: 1, carts: 2 })
      const [first] = entries
      assert.deepInclude(first?.payload, { id: known.id, email: null, firstName: null, organizationId: "org_default" })
      for (const entry of [...entries, ...yield* entriesOf(known.order)]) {
        if (entry.actor_id === "annabel-2") {
          assert.deepStrictEqual([entry.ip, entry.user_agent], [null, null], entry.type)
        }
      }
    }))

  it.effect("the erasure of a person is refused until every order is completed, and changes nothing before", () =>
    Effect.gen(function*() {
      const who = { ...annabel, userId: "annabel-5" }
      const known = yield* aKnownCustomer(who)
      const order = yield* as(asAdmin, "GET", `/api/orders/${known.order}`)
      const number = order.text("data.orderNumber")
      const exported = Effect.map(as(who, "GET", "/api/me/export"), ({ at }) => [at("data.profile"), at("data.orders")])
      for (const status of ["confirmed", "processing"]) {
        const before = yield* exported
        const refusal = yield* api("DELETE", "/api/me", { as: who })
        refused(refusal, 409, "CONFLICT", status)
        assert.include(refusal.text("error.message"), number)
        assert.deepStrictEqual(yield* exported, before)
        yield* as(asAdmin, "PATCH", `/api/orders/${known.order}/status`, { status })
      }
      refused(yield* api("DELETE", "/api/me", { as: who }), 409, "CONFLICT", "processing")
      yield* onDatabase((sql) => sql`update orders set status = 'partially_fulfilled' where id = ${known.order}::uuid`)
      refused(yield* api("DELETE", "/api/me", { as: who }), 409, "CONFLICT", "partially fulfilled")
      yield* onDatabase((sql) => sql`update orders set status = 'processing' where id = ${known.order}::uuid`)
      yield* as(asAdmin, "PATCH", `/api/orders/${known.order}/status`, { status: "fulfilled" })
      const cartIs = (status: string, checkout: string | null) =>
        onDatabase((sql) =>
          sql`update carts set status = ${status}, checkout_id = ${checkout}::uuid where id = ${known.cart}::uuid`
        )
      yield* cartIs("checking_out", crypto.randomUUID())
      const busy = yield* api("DELETE", "/api/me", { as: who })
      refused(busy, 409, "CONFLICT", "a checkout under way")
      assert.match(busy.text("error.message"), /checkout is under way/)
      yield* cartIs("active", null)
      yield* as(who, "DELETE", "/api/me")
    }))

  it.effect("the erasure of a person and a concurrent checkout leave no order with a name", () =>
    Effect.forEach([1, 2, 3, 4, 5, 6], (round) =>
      Effect.gen(function*() {
        const who = { ...annabel, userId: `annabel-rush-${round}` }
        const id = (yield* as(who, "GET", "/api/me/profile")).text("data.id")
        const entityId = yield* aProduct()
        const cartId = (yield* as(who, "POST", "/api/carts", { currency: "USD", email })).text("data.id")
        yield* as(who, "POST", `/api/carts/${cartId}/items`, { entityId, quantity: 1 })
        const body = { cartId, paymentMethodId: "test", currency: "USD", shippingAddress: { line1: street } }
        const [order, gone] = yield* Effect.all([
          api("POST", "/api/checkout", { as: who, body }),
          api("DELETE", "/api/me", { as: who })
        ], { concurrency: "unbounded" })
        assert.include([201, 404, 422], order.status)
        assert.include([200, 409], gone.status)
        const named = yield* onDatabase((sql) =>
          sql`select 1 from orders where customer_id = ${id}::uuid and (email is not null or shipping_address is not null)`
        )
        assert.strictEqual(named.length, gone.status === 200 ? 0 : order.status === 201 ? 1 : 0)
      }), { concurrency: 2 }))

  it.effect("the erasure of a person lets the person return with a new profile, and affects one organization", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const who = { ...annabel, userId: "annabel-3" }
      const there = inOrganization("org_other", who)
      const [here, other] = [yield* as(who, "GET", "/api/me/profile"), yield* as(there, "GET", "/api/me/profile")]
      yield* as(who, "DELETE", "/api/me")
      assert.deepStrictEqual((yield* as(there, "GET", "/api/me/profile")).at("data"), other.at("data"))
      const again = yield* as(who, "GET", "/api/me/profile")
      assert.notStrictEqual(again.at("data.id"), here.at("data.id"))
      assert.deepStrictEqual((yield* as(who, "GET", "/api/me/orders")).list("data"), [])
      yield* as({ ...who, ...holding("customers:update:self"), userId: "annabel-4" }, "DELETE", "/api/me")
    }))
})
