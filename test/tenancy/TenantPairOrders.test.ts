import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { UndoCreateOrder } from "../../src/domain/checkout/UndoCreateOrder.ts"
import { Handover } from "../../src/domain/fulfillment/Handover.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { OrderStock } from "../../src/domain/inventory/OrderStock.ts"
import { InvoiceRepo, invoiceRepoLayer } from "../../src/domain/invoices/InvoiceRepo.ts"
import { CustomerOrderRepo, customerOrderRepoLayer } from "../../src/domain/orders/CustomerOrderRepo.ts"
import { OrderLookupRepo, orderLookupRepoLayer } from "../../src/domain/orders/OrderLookupRepo.ts"
import { OrderNoteRepo, orderNoteRepoLayer } from "../../src/domain/orders/OrderNoteRepo.ts"
import { OrderStatusRepo, orderStatusRepoLayer } from "../../src/domain/orders/OrderStatusRepo.ts"
import { StaleOrderRepo, staleOrderRepoLayer } from "../../src/domain/orders/StaleOrderRepo.ts"
import { TimelineRepo, timelineRepoLayer } from "../../src/domain/orders/TimelineRepo.ts"
import { UnconfirmedOrderRepo, unconfirmedOrderRepoLayer } from "../../src/domain/orders/UnconfirmedOrderRepo.ts"
import { ShippingRuleRepo, shippingRuleRepoLayer } from "../../src/domain/shipping/ShippingRuleRepo.ts"
import { TaxClassRepo, taxClassRepoLayer } from "../../src/domain/tax/TaxClassRepo.ts"
import { TaxNoticeRepo, taxNoticeRepoLayer } from "../../src/domain/tax/TaxNoticeRepo.ts"
import { TaxRuleRepo, taxRuleRepoLayer } from "../../src/domain/tax/TaxRuleRepo.ts"
import { anInvoice } from "../invoices/AnInvoice.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, givenAway, here, openElsewhere, outsider } from "./Anonymous.ts"

/** Nothing here gets as far as the stock. */
const noGoods = Layer.mergeAll(
  Layer.mock(OrderStock, {}),
  Layer.mock(Handover, {}),
  Layer.mock(UndoCreateOrder, {})
)

const Repos = Layer.mergeAll(
  customerOrderRepoLayer,
  invoiceRepoLayer,
  orderLookupRepoLayer,
  orderNoteRepoLayer,
  Layer.provide(orderStatusRepoLayer, noGoods),
  shippingRuleRepoLayer,
  staleOrderRepoLayer,
  taxClassRepoLayer,
  taxNoticeRepoLayer,
  taxRuleRepoLayer,
  timelineRepoLayer,
  unconfirmedOrderRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

const page = { page: 1, limit: 20 }

const rowOf = (id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select o::text from orders o where id = ${id}::uuid`)

it.layer(Repos, { excludeTestServices: true })("orders of another organization, past their services", (it) => {
  it.effect("those left behind are found once, however many organizations there are", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const stale = yield* StaleOrderRepo
      const { id } = yield* buildOrder({ captured: null, placedAt: new Date("2020-01-01") })
      const found = (yield* stale.older(1, "00000000-0000-0000-0000-000000000000", 99)).filter((one) =>
        one.orderId === id
      )
      assert.deepStrictEqual(found, [{ orderId: id, organizationId: "org_default" }])
    }))

  it.effect("shipping and tax are priced by the organization's own zones, rates and classes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const zone = newId()
      yield* sql`insert into shipping_zones (id, organization_id, name, countries)
        values (${zone}::uuid, 'org_default', 'Here', '{US}')`
      yield* sql`insert into shipping_rates (id, organization_id, zone_id, name, currency, amount)
        values (${newId()}::uuid, 'org_default', ${zone}::uuid, 'Parcel', 'USD', 5)`
      yield* sql`insert into tax_classes (id, organization_id, name, rate_bps)
        values (${newId()}::uuid, 'org_default', 'books', 900)`
      yield* sql`insert into tax_rates (id, organization_id, name, country, rate_bps)
        values (${newId()}::uuid, 'org_default', 'VAT', 'NL', 2100)`
      const rules = Effect.fnUntraced(function*(organization: string) {
        const { rates, zones } = yield* (yield* ShippingRuleRepo).rules(organization)
        const tax = yield* (yield* TaxRuleRepo).active(organization)
        return [zones.length, rates.length, tax.classes.length, tax.rates.length]
      })
      assert.deepStrictEqual(yield* rules("org_default"), [1, 1, 1, 1])
      assert.deepStrictEqual(yield* rules("org_elsewhere"), [0, 0, 0, 0])
      // One class is an organization's default, and takes the place of none elsewhere.
      yield* openElsewhere
      yield* sql`insert into tax_classes (id, organization_id, name, rate_bps, is_default)
        values (${newId()}::uuid, 'org_elsewhere', 'usual', 900, true)`
      const at = new Date()
      const usual = { id: newId(), organizationId: "org_default", name: "usual", rateBps: 2_100, isDefault: true }
      yield* here(
        (yield* TaxClassRepo).insert({ ...usual, isActive: true, metadata: {}, createdAt: at, updatedAt: at })
      )
      const defaults = yield* sql`select organization_id from tax_classes where is_default order by 1`
      assert.deepStrictEqual(defaults.map((row) => row["organization_id"]), ["org_default", "org_elsewhere"])
    }))

  it.effect("invoices: numbered by themselves, and made of our own facts", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const invoices = yield* InvoiceRepo
      const content = anInvoice({ lines: 1 })
      const [customer, refund] = [newId(), newId()]
      yield* sql`insert into customers (id, organization_id, user_id, first_name, email)
        values (${customer}::uuid, 'org_default', ${customer}, 'Ann', 'ann@home.example')`
      const first = yield* buildOrder({ customerId: customer })
      const [second, theirs] = [yield* buildOrder(), yield* buildOrder({ organizationId: "org_elsewhere" })]
      yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        values (${refund}::uuid, 'org_default', ${first.id}::uuid, 5, 'r', 'completed')`
      assert.strictEqual((yield* here(invoices.issue(first.id, content))).number, 1n)
      assert.strictEqual((yield* outsider(invoices.issue(theirs.id, content))).number, 1n)
      assert.strictEqual((yield* here(invoices.issue(second.id, content))).number, 2n)
      // It was issued before, by us: whoever asks from elsewhere is not given it.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(elsewhere(invoices.issue(first.id, content)))))
      const facts = Effect.map(
        here(invoices.factsOf(first.id)),
        ({ buyer, issued, refunds }) => [buyer.name, refunds.length, issued?.number]
      )
      assert.deepStrictEqual(yield* facts, ["Ann", 1, 1n])
      assert.deepStrictEqual(yield* elsewhere(invoices.factsOf(first.id)), {
        buyer: { name: null, email: null },
        refunds: [],
        issued: undefined
      })
      yield* givenAway("customers", "id", customer)
      assert.deepStrictEqual(yield* facts, [null, 1, 1n])
      yield* givenAway("refunds", "id", refund)
      assert.deepStrictEqual(yield* facts, [null, 0, 1n])
      yield* sql`update invoices set organization_id = 'org_elsewhere', number = 99 where order_id = ${first.id}::uuid`
      assert.deepStrictEqual(yield* facts, [null, 0, undefined])
    }))

  it.effect("notes: neither shown, nor written, nor deleted", () =>
    Effect.gen(function*() {
      const notes = yield* OrderNoteRepo
      const { id: orderId } = yield* buildOrder()
      const note = {
        id: newId(),
        organizationId: "org_default",
        orderId,
        text: "Ring twice.",
        visibility: "internal",
        authorId: null,
        authorName: "Staff",
        createdAt: new Date()
      } as const
      assert.isFalse(yield* outsider(notes.insert(note)))
      assert.isTrue(yield* here(notes.insert(note)))
      assert.isFalse(yield* outsider(notes.remove(orderId, note.id)))
      assert.deepStrictEqual(yield* elsewhere(notes.list(orderId, undefined, page)), { ...page, items: [], total: 0 })
      assert.strictEqual((yield* here(notes.list(orderId, undefined, page))).total, 1)
    }))

  it.effect("status and waiting: not changed, and nobody waits for its row", () =>
    Effect.gen(function*() {
      const [statuses, unconfirmed] = [yield* OrderStatusRepo, yield* UnconfirmedOrderRepo]
      const { id } = yield* buildOrder({ captured: null })
      const before = yield* rowOf(id)
      const change = { orderId: id, from: "pending", to: "confirmed", reason: null } as const
      const refused = yield* Effect.flip(outsider(statuses.transition(change)))
      assert.strictEqual(refused._tag, "Conflict")
      yield* outsider(unconfirmed.awaitPayment(id, 300))
      assert.deepStrictEqual(yield* rowOf(id), before)
      yield* here(unconfirmed.awaitPayment(id, 300))
      const waiting = yield* rowOf(id)
      assert.notDeepEqual(waiting, before)
      yield* outsider(unconfirmed.confirmed(id, "org_elsewhere"))
      assert.deepStrictEqual(yield* rowOf(id), waiting)
    }))

  it.effect("guests' orders under one address are not claimed", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const orders = yield* CustomerOrderRepo
      const order = yield* buildOrder()
      const email = `${order.id}@home.example`
      yield* sql`update orders set email = ${email} where id = ${order.id}::uuid`
      const customer = newId()
      yield* sql`insert into customers (id, organization_id, user_id)
        values (${customer}::uuid, 'org_elsewhere', ${customer})`
      assert.deepStrictEqual([
        yield* here(orders.hasGuestOrders(email)),
        yield* elsewhere(orders.hasGuestOrders(email))
      ], [
        true,
        false
      ])
      assert.strictEqual(yield* outsider(orders.claim(customer, email)), 0)
    }))

  it.effect("the timeline tells what our own change log says", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const timeline = yield* TimelineRepo
      const { id } = yield* buildOrder()
      const entry = (organization: string) =>
        sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
          values (gen_random_uuid(), ${organization}, 'orders.update', 'order', ${id}, '{}', 'user', 'rest')`
      const before = (yield* here(timeline.of(id, page)))?.total ?? 0
      yield* Effect.all([entry("org_default"), entry("org_elsewhere")])
      const paid = (organization: string) =>
        sql`insert into payment_events (organization_id, provider, event_id, type, order_id, amount)
          values (${organization}, 'test', ${newId()}, 'payment.captured', ${id}::uuid, 5)`
      yield* Effect.all([paid("org_default"), paid("org_elsewhere")])
      assert.strictEqual((yield* here(timeline.of(id, page)))?.total, before + 2)
      assert.isUndefined(yield* elsewhere(timeline.of(id, page)))
    }))

  it.effect("a tax adapter hears of nobody's orders but those of the organization whose event it is", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [notices, order] = [yield* TaxNoticeRepo, yield* buildOrder()]
      const [ours, theirs] = [newId(), newId()]
      yield* sql`update orders set tax_provider = 'outside' where id = ${order.id}::uuid`
      yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
        values (${ours}::uuid, 'org_default', 'orders.create', 'order', ${order.id}, '{}', 'user', 'rest'),
          (${theirs}::uuid, 'org_elsewhere', 'orders.create', 'order', ${order.id}, '{}', 'user', 'rest')`
      const recorded = yield* notices.outside([ours, theirs])
      assert.deepStrictEqual(recorded.map(({ organizationId }) => organizationId), ["org_default"])
    }))

  it.effect("the look-up finds ours among more of another organization than it shows", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const lookup = yield* OrderLookupRepo
      const word = "zz"
      const [person, theirs] = [newId(), newId()]
      // First in their tables, and newer.
      for (let n = 0; n < 51; n++) {
        const built = yield* buildOrder({ organizationId: "org_elsewhere", customerId: person })
        yield* sql`update orders set email = ${`${word}.guest@x.example`}, placed_at = now() + interval '1 day'
          where id = ${built.id}::uuid`
      }
      yield* sql`insert into customers (id, organization_id, user_id, first_name, last_name, email)
        select gen_random_uuid(), 'org_elsewhere', gen_random_uuid()::text, f, l, e from generate_series(1, 51),
          (values ('zz-first', 'x', 'x'), ('x', 'zz-last', 'x'), ('x', 'x', 'zz-mail@x.example')) named(f, l, e)`
      const [guest, known, outsiders] = [
        yield* buildOrder(),
        yield* buildOrder({ customerId: person }),
        yield* buildOrder({ customerId: theirs })
      ]
      yield* sql`update orders set email = 'zz.guest@x.example' where id = ${guest.id}::uuid`
      yield* sql`insert into customers (id, organization_id, user_id, first_name, last_name, email)
        values (${person}::uuid, 'org_default', ${person}, 'zz-first', 'zz-last', 'zz-mail@x.example'),
          (${theirs}::uuid, 'org_elsewhere', ${theirs}, 'qq', 'qq', 'qq')`
      const found = (beginning: string, number = "-") =>
        Effect.map(
          here(lookup.find({ beginning, number, digits: null })),
          (hits) => hits.map(({ customerName, id }) => [id, customerName])
        )
      const ours = [[known.id, "zz-first zz-last"]]
      assert.deepStrictEqual(yield* found("zz-mail"), ours)
      assert.deepStrictEqual(yield* found("zz-first"), ours)
      assert.deepStrictEqual(yield* found("zz-last"), ours)
      assert.deepStrictEqual(yield* found("zz.guest"), [[guest.id, null]])
      // A person of another organization leads nowhere, also where an order of ours names him.
      assert.deepStrictEqual(yield* found("qq"), [])
      assert.deepStrictEqual(yield* found("-", outsiders.orderNumber), [[outsiders.id, null]])
    }))
})
