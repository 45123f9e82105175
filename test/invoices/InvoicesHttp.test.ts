import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import type { AdapterMail } from "../../src/layers/mail/MailTransport.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { mailing } from "../mail/MailedShop.ts"
import { type BuiltOrder, orderInApp, type OrderSpec } from "../support/OrderBuilder.ts"
import { api, asAdmin, inOrganization, live, TestApp, testAppLayer } from "../support/TestApp.ts"

/** Mails that left. */
const sent: Array<AdapterMail> = []

const withInvoices = layer(
  testAppLayer({
    storeName: "Mugs & Co",
    invoices: { sellerLines: ["1 Main St", "1234 AB Town"], taxNumber: "NL-1", notes: ["IBAN NL00 0000"] },
    email: { send: (mail) => Effect.sync(() => void sent.push(mail)) },
    jobs: { autorun: { enabled: false } }
  }),
  live
)

const hostile = "<script>alert(\"1\")</script> & 'mug'"

const given = (spec: OrderSpec = {}) =>
  orderInApp({ status: "confirmed", lines: [{ quantity: 2, unitPrice: 1_250, title: hostile }], ...spec })

const aRefund = (order: BuiltOrder, amount: number, status: string) =>
  onDatabase((sql) =>
    sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
      values (gen_random_uuid(), 'org_default', ${order.id}::uuid, ${amount}, 'broken', ${status})`
  )

const html = (order: BuiltOrder, kind = "invoice", as: typeof asAdmin = asAdmin) =>
  api("GET", `/api/orders/${order.id}/${kind}.html`, { as })

const numberIn = (body: unknown) => /INV-\d{6}/.exec(String(body))?.[0]

/** Bytes as they came; the test's own client reads texts. */
const pdf = (order: BuiltOrder) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${url}/api/orders/${order.id}/invoice.pdf`, {
        headers: { "x-test-actor": JSON.stringify(asAdmin) }
      })
      return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
    }))

withInvoices("invoices", (it) => {
  it.effect("shows seller, buyer and lines escaped, without scripts, and forbids caching", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const answer = yield* html(order)
      const body = String(answer.body)
      assert.strictEqual(answer.status, 200)
      for (const text of ["Mugs &amp; Co", "1234 AB Town", "NL-1", "IBAN NL00 0000", order.orderNumber, "$25.00"]) {
        assert.include(body, text)
      }
      assert.include(body, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;mug&#39;")
      assert.notMatch(body, /<script|javascript:|onerror|https?:\/\//i)
      assert.strictEqual(answer.headers.get("content-type"), "text/html; charset=utf-8")
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("content-disposition"), `inline; filename="${numberIn(body)}.html"`)
      assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none'/)
    }))

  it.effect("keeps the content of an issued invoice, and adds refunds", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const first = yield* html(order)
      yield* onDatabase((sql) => sql`update order_lines set title = 'Renamed' where order_id = ${order.id}::uuid`)
      assert.strictEqual((yield* html(order)).body, first.body)
      yield* aRefund(order, 777, "completed")
      const later = String((yield* html(order)).body)
      assert.include(later, "-$7.77")
      assert.strictEqual(numberIn(later), numberIn(first.body))
      const receipt = String((yield* html(order, "receipt")).body)
      assert.include(receipt, "-$7.77")
      assert.notInclude(receipt, "Renamed")
    }))

  it.effect("shows no pending or failed refund, and no void", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const first = yield* html(order)
      for (const [amount, status] of [[777, "pending"], [778, "failed"], [0, "completed"]] as const) {
        yield* aRefund(order, amount, status)
      }
      assert.strictEqual((yield* html(order)).body, first.body)
    }))

  it.effect("keeps the invoice of a cancelled order", () =>
    Effect.gen(function*() {
      const order = yield* given({ captured: null })
      const first = yield* html(order)
      assert.strictEqual(first.status, 200)
      yield* onDatabase((sql) => sql`update orders set status = 'cancelled' where id = ${order.id}::uuid`)
      assert.strictEqual((yield* html(order)).body, first.body)
    }))

  it.effect("shows a receipt of what was paid, without an invoice number", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const answer = yield* html(order, "receipt")
      assert.include(String(answer.body), "<h1>Receipt</h1>")
      assert.isUndefined(numberIn(answer.body))
      const issued = yield* onDatabase((sql) => sql`select 1 from invoices where order_id = ${order.id}::uuid`)
      assert.lengthOf(issued, 0)
      refused(yield* html(yield* given({ captured: null }), "receipt"), 409, "CONFLICT")
    }))

  it.effect("serves the invoice as a PDF with its number as name", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ title: "Кружка · Κούπα · Mug ✓" }] })
      const { answer, bytes } = yield* pdf(order)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(bytes.subarray(0, 5).toString(), "%PDF-")
      assert.strictEqual(answer.headers.get("content-type"), "application/pdf")
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.match(answer.headers.get("content-disposition") ?? "", /^inline; filename="INV-\d{6}\.pdf"$/)
    }))

  it.effect("numbers invoices without gaps for concurrent and repeated requests, separately in each store", () =>
    Effect.gen(function*() {
      const organizationId = "org_numbered"
      const as = inOrganization(organizationId, asAdmin)
      const orders = yield* Effect.forEach(Array.from({ length: 16 }), () => given({ organizationId }))
      // With a counter that is there already, whose row is all that keeps them apart.
      yield* html(yield* given({ organizationId }), "invoice", as)
      const asked = [...orders, ...orders].map((order) => html(order, "invoice", as))
      const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
      const numbers = [...new Set(answers.map(({ body }) => numberIn(body)))].sort()
      assert.deepStrictEqual(numbers, orders.map((_, n) => `INV-${String(n + 2).padStart(6, "0")}`))
      const recorded = yield* onDatabase((sql) =>
        sql`select 1 from outbox_events where type = 'invoices.create' and organization_id = ${organizationId}`
      )
      assert.lengthOf(recorded, 17)
    }))

  it.effect("allows a number for one order only, from 1, also in the tables", () =>
    Effect.gen(function*() {
      const [order, other] = [yield* given(), yield* given()]
      const write = (id: string, number: number) =>
        onDatabase((sql) =>
          Effect.map(
            Effect.result(sql`insert into invoices (order_id, organization_id, number, content)
              values (${id}::uuid, 'org_written', ${number}, '{}')`),
            ({ _tag }) => _tag
          )
        )
      const written = [
        yield* write(order.id, 0),
        yield* write(order.id, 7),
        yield* write(other.id, 7),
        yield* write(order.id, 8)
      ]
      assert.deepStrictEqual(written, ["Failure", "Success", "Failure", "Failure"])
    }))

  it.effect("issues no invoice for an order that is neither confirmed nor paid", () =>
    Effect.gen(function*() {
      for (const status of ["pending", "cancelled"]) {
        refused(yield* html(yield* given({ status, captured: null })), 409, "CONFLICT")
      }
      assert.strictEqual((yield* html(yield* given({ status: "pending" }))).status, 200)
    }))

  it.effect("shows an invoice to a guest with the secret of the order's cart, for a week", () =>
    Effect.gen(function*() {
      const week = new Date(Date.now() - 8 * 86_400_000)
      const orders = [
        [yield* given({ cartSecret: "own" }), "own", 200],
        [yield* given({ cartSecret: "own" }), "another", 404],
        [yield* given({ cartSecret: "own", customerId: newId() }), "own", 404],
        [yield* given({ cartSecret: "own", placedAt: week }), "own", 404]
      ] as const
      for (const path of ["invoice.pdf", "invoice.html", "receipt.html"]) {
        for (const [{ id }, secret, status] of orders) {
          const answer = yield* api("GET", `/api/orders/${id}/${path}`, { headers: { "x-cart-secret": secret } })
          assert.strictEqual(answer.status, status, `${path}: ${JSON.stringify(answer.body)}`)
        }
        refused(yield* api("GET", `/api/orders/nonsense/${path}`, { as: asAdmin }), 422, "VALIDATION_FAILED")
      }
    }))

  const mail = (order: BuiltOrder, body: object) =>
    api("POST", `/api/orders/${order.id}/invoice/email`, { as: asAdmin, body })

  it.effect("mails the invoice with its PDF", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const answer = yield* mail(order, { to: "ann@home.example" })
      assert.deepStrictEqual(answer.body, { data: { queued: true, to: "ann@home.example" } })
      const [left] = yield* mailing(
        "the mail with the invoice",
        Effect.sync(() => {
          const found = sent.filter(({ template }) => template === "order-invoice")
          return found.length === 0 ? undefined : found
        })
      )
      assert.strictEqual(left?.to, "ann@home.example")
      assert.include(left?.subject ?? "", order.orderNumber)
      assert.deepStrictEqual(left?.attachments.map(({ contentType }) => contentType), ["application/pdf"])
      assert.match(left?.attachments[0]?.fileName ?? "", /^INV-\d{6}\.pdf$/)
      assert.strictEqual(Buffer.from(left?.attachments[0]?.content ?? []).subarray(0, 5).toString(), "%PDF-")
    }))

  it.effect("refuses to mail an invoice without an address, and before there is one", () =>
    Effect.gen(function*() {
      const order = yield* given()
      refused(yield* mail(order, {}), 422, "VALIDATION_FAILED")
      refused(yield* mail(order, { to: "nowhere" }), 422, "VALIDATION_FAILED")
      const open = yield* given({ status: "pending", captured: null })
      refused(yield* mail(open, { to: "ann@home.example" }), 409, "CONFLICT")
    }))
})
