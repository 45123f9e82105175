import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CustomerRepo } from "../../src/domain/customers/CustomerRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { InvoiceRepo } from "../../src/domain/invoices/InvoiceRepo.ts"
import { OrderMailRepo } from "../../src/domain/mail/OrderMailRepo.ts"
import { OrderRecordsRepo } from "../../src/domain/orders/OrderRecordsRepo.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { Handover, UndoCreateOrder } from "../../src/domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import { UnpaidOrderRepo } from "../../src/domain/orders/UnpaidOrderRepo.ts"
import { currentOrganization, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, type OrderId, OrderMessageId } from "../../src/domain/platform/ids/Id.ts"
import { TaxNoticeRepo } from "../../src/domain/tax/TaxRepo.ts"
import { anInvoice } from "../invoices/AnInvoice.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import {
  answersApart,
  asAnother,
  asOwner,
  insert,
  isFound,
  leavesOut,
  openAnother,
  type Question,
  whileLocked
} from "./AnotherTenant.ts"

/** No request gets as far as the stock. */
const noStock = Layer.mergeAll(Layer.mock(Handover, {}), Layer.mock(OrderStock, {}), Layer.mock(UndoCreateOrder, {}))

const Repos = Layer.mergeAll(
  OrderRepo.layer,
  CustomerRepo.layer,
  InvoiceRepo.layer,
  OrderRecordsRepo.layer,
  OrderMailRepo.layer,
  OrderStatusRepo.layer,
  UnpaidOrderRepo.layer,
  TaxNoticeRepo.layer
).pipe(Layer.provide(noStock), Layer.provideMerge(TestDatabase))

const page = { page: 1, limit: 20 }
const at = new Date("2026-01-01")

/** Orders of the owner: paid by another tenant's customer, pending, and of a guest. */
const someOrders = Effect.gen(function*() {
  yield* openAnother
  const sql = yield* SqlClient.SqlClient
  const buyer = { ...systemActor("org_another"), type: "user", userId: newId() } as const
  const customer = (yield* CustomerRepo.use((repo) => repo.openProfile(buyer)))?.customer.id ??
    assert.fail("no profile")
  const [paid, pending] = [yield* buildOrder({ customerId: customer }), yield* buildOrder({ captured: null })]
  const ofGuest = yield* buildOrder()
  const email = `${ofGuest.id}@home.example`
  yield* sql`update orders set email = ${email} where id = ${ofGuest.id}::uuid`
  const entry = { entity_type: "order", entity_id: paid.id, type: "orders.update", payload: "{}" }
  const event = { provider: "test", type: "payment.captured", order_id: paid.id, amount: 5 }
  for (const organization_id of ["org_default", "org_another"]) {
    yield* insert("outbox_events", { organization_id, id: newId(), actor_type: "user", source: "rest", ...entry })
    yield* insert("payment_events", { organization_id, event_id: newId(), ...event })
  }
  return { paid, pending: pending.id, email, customer }
})

const mailsOf = (orderId: OrderId) =>
  OrderMailRepo.use(Effect.fnUntraced(function*(repo) {
    yield* repo.note([{
      id: OrderMessageId.make(newId()),
      organizationId: yield* currentOrganization,
      orderId,
      template: "order-confirmation",
      outcome: "sent",
      content: null
    }])
    const sql = yield* SqlClient.SqlClient
    return (yield* sql`select 1 from order_mails where order_id = ${orderId}::uuid`).length
  }))

const confirmation = { from: "pending", to: "confirmed", reason: null } as const

const questions: ReadonlyArray<Question<Effect.Success<typeof someOrders>, Layer.Success<typeof Repos>>> = [
  // The user of another tenant's customer does not own the order.
  [
    "an owner",
    ({ paid }) => OrderRepo.use((repo) => Effect.map(repo.find(paid.id), (one) => one?.ownerUserId)),
    undefined,
    null
  ],
  ["number of orders", ({ customer }) => OrderRepo.use((repo) => repo.countOf(customer)), 0, 1],
  ["guests' orders", ({ email }) => OrderRepo.use((repo) => repo.hasGuestOrders(email)), false, true],
  [
    "timeline",
    ({ paid }) => OrderRecordsRepo.use((repo) => Effect.map(repo.timeline(paid.id, page), (all) => all?.total)),
    undefined,
    3
  ],
  ["payment state", ({ paid }) => OrderMailRepo.use((repo) => isFound(repo.paymentState(paid.id))), false, true],
  ["mails", ({ paid }) => mailsOf(paid.id), 0, 1],
  ["a claim", ({ customer, email }) => OrderRepo.use((repo) => repo.claim(customer, email)), 0],
  [
    "a status",
    ({ pending }) => OrderStatusRepo.use((repo) => repo.transition({ orderId: pending, ...confirmation })),
    "Conflict/OrderStatusChanged"
  ],
  [
    "a wait",
    ({ pending }) =>
      Effect.map(UnpaidOrderRepo.use((repo) => repo.awaitPayment(pending, 300)), (dueAt) => dueAt !== null),
    false,
    true
  ]
]

/** Once the payment is awaited. */
const later: typeof questions = [
  ["confirmed", ({ pending }) => UnpaidOrderRepo.use((repo) => repo.confirmed(pending, "org_another")), undefined]
]

it.layer(Repos, { excludeTestServices: true })("repositories of orders", (it) => {
  it.effect("repositories of orders answer another tenant nothing of the owner's orders and change none", () =>
    Effect.gen(function*() {
      const orders = yield* someOrders
      const sql = yield* SqlClient.SqlClient
      const pending = sql`select o::text from orders o where id = ${orders.pending}::uuid`
      const before = yield* pending
      yield* answersApart(orders, questions)
      assert.notDeepEqual(yield* pending, before, "the owner awaits the payment")
      yield* answersApart(orders, later)
    }))

  it.effect("repositories of orders number invoices by organization and make them of facts of that organization", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const content = anInvoice({ lines: 1 })
      const [customer, refund] = [newId(), newId()]
      yield* insert("customers", { id: customer, user_id: customer, first_name: "Ann", email: "ann@home.example" })
      const first = yield* buildOrder({ customerId: customer })
      const [second, theirs] = [yield* buildOrder(), yield* buildOrder({ organizationId: "org_another" })]
      yield* insert("refunds", { id: refund, order_id: first.id, amount: 5, reason: "r", status: "completed" })
      const { factsOf, issue } = yield* InvoiceRepo
      assert.strictEqual((yield* asOwner(issue(first.id, content))).number, 1)
      assert.strictEqual((yield* whileLocked("org_default", asAnother(issue(theirs.id, content)))).number, 1)
      assert.strictEqual((yield* asOwner(issue(second.id, content))).number, 2)
      // Another tenant does not get the invoice that was issued.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(asAnother(issue(first.id, content)))))
      assert.deepStrictEqual(yield* asAnother(factsOf(first.id)), {
        buyer: { name: null, email: null },
        refunds: [],
        issued: undefined
      })
      const facts = Effect.map(
        factsOf(first.id),
        ({ buyer, issued, refunds }) => [buyer.name, refunds.length, issued?.number]
      )
      yield* leavesOut(
        facts,
        ["Ann", 1, 1],
        ["customers", "id", customer, [null, 1, 1]],
        ["refunds", "id", refund, [null, 0, 1]]
      )
      yield* sql`update invoices set organization_id = 'org_another', number = 99 where order_id = ${first.id}::uuid`
      assert.deepStrictEqual(yield* asOwner(facts), [null, 0, undefined])
    }))

  it.effect("repositories of orders read an event only for the tenant whose event and order it is", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const [cart, customer, own, another] = [newId(), newId(), newId(), newId()]
      const order = yield* buildOrder({ customerId: customer })
      yield* insert("customers", { id: customer, user_id: customer, email: "customer@x.example" })
      const bought = {
        status: "checked_out",
        currency: "USD",
        secret_hash: "h",
        expires_at: at,
        email: "cart@x.example"
      }
      yield* insert("carts", { id: cart, ...bought })
      yield* sql`update orders set cart_id = ${cart}::uuid, tax_provider = 'outside' where id = ${order.id}::uuid`
      const entry = { entity_type: "order", entity_id: order.id, type: "orders.create", payload: "{}" }
      const from = { actor_type: "user", source: "rest", ...entry }
      yield* insert("outbox_events", { id: own, ...from }, { id: another, organization_id: "org_another", ...from })
      const notices = yield* TaxNoticeRepo.use((repo) => repo.outside([own, another]))
      assert.deepStrictEqual(notices.map(({ organizationId }) => organizationId), ["org_default"])
      const addressed = OrderMailRepo.use((repo) =>
        Effect.map(
          repo.addressed([own, another]),
          (all) => all.map(({ email, organizationId }) => [organizationId, email])
        )
      )
      yield* leavesOut(
        addressed,
        [["org_default", "cart@x.example"]],
        ["carts", "id", cart, [["org_default", "customer@x.example"]]],
        ["customers", "id", customer, [["org_default", null]]]
      )
    }))

  it.effect("repositories of orders find an order that was left behind once, however many organizations there are", () =>
    Effect.gen(function*() {
      yield* openAnother
      const { id } = yield* buildOrder({ captured: null, placedAt: new Date("2020-01-01") })
      const found = yield* UnpaidOrderRepo.use((repo) => repo.older(1, "00000000-0000-0000-0000-000000000000", 99))
      assert.deepStrictEqual(found.filter(({ orderId }) => orderId === id), [
        { orderId: id, organizationId: "org_default" }
      ])
    }))

  it.effect("repositories of orders look up the owner's order among more of another tenant than a look-up shows", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const [person, theirs] = [newId(), newId()]
      // First in their tables, and newer.
      for (let n = 0; n < 51; n++) {
        const built = yield* buildOrder({ organizationId: "org_another", customerId: person })
        yield* sql`update orders set email = 'zz.guest@x.example', placed_at = now() + interval '1 day'
          where id = ${built.id}::uuid`
      }
      yield* sql`insert into customers (id, organization_id, user_id, first_name, last_name, email)
        select gen_random_uuid(), 'org_another', gen_random_uuid()::text, f, l, e from generate_series(1, 51),
          (values ('zz-first', 'x', 'x'), ('x', 'zz-last', 'x'), ('x', 'x', 'zz-mail@x.example')) named(f, l, e)`
      const [guest, known, foreign] = [
        yield* buildOrder(),
        yield* buildOrder({ customerId: person }),
        yield* buildOrder({ customerId: theirs })
      ]
      yield* sql`update orders set email = 'zz.guest@x.example' where id = ${guest.id}::uuid`
      const names = { first_name: "zz-first", last_name: "zz-last", email: "zz-mail@x.example" }
      const other = { organization_id: "org_another", first_name: "qq", last_name: "qq", email: "qq" }
      yield* insert("customers", { id: person, user_id: person, ...names }, { id: theirs, user_id: theirs, ...other })
      const own = [[known.id, "zz-first zz-last"]]
      const cases: ReadonlyArray<readonly [beginning: string, number: string, found: ReadonlyArray<unknown>]> = [
        ["zz-mail", "-", own],
        ["zz-first", "-", own],
        ["zz-last", "-", own],
        ["zz.guest", "-", [[guest.id, null]]],
        // Another tenant's customer is not found, also where the owner's order names them.
        ["qq", "-", []],
        ["-", foreign.orderNumber, [[foreign.id, null]]]
      ]
      for (const [beginning, number, found] of cases) {
        const hits = yield* asOwner(OrderRecordsRepo.use((repo) => repo.lookup({ beginning, number, digits: null })))
        assert.deepStrictEqual(hits.map(({ customerName, id }) => [id, customerName]), found, beginning)
      }
    }))
})
