import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CustomerGroupRepo } from "../../src/domain/customers/CustomerGroupRepo.ts"
import { CustomerGroups } from "../../src/domain/customers/CustomerGroups.ts"
import { Addresses, Interactions } from "../../src/domain/customers/CustomerRecords.ts"
import { AddressRepo, InteractionRepo } from "../../src/domain/customers/CustomerRecordsRepo.ts"
import { CustomerRepo } from "../../src/domain/customers/CustomerRepo.ts"
import { Customers } from "../../src/domain/customers/Customers.ts"
import { TaxExemptionRepo } from "../../src/domain/customers/TaxExemptionRepo.ts"
import { CustomerOrders } from "../../src/domain/orders/CustomerOrders.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { type Actor, anonymousActor, CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { CacheInvalidation } from "../../src/domain/platform/access/CacheInvalidation.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { type CustomerGroupId, newId } from "../../src/domain/platform/ids/Id.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const shopper = (userId: string, email: string | null, organizationId = "org_default"): Actor => ({
  ...anonymousActor(organizationId, []),
  userId,
  email
})

const Services = Layer.mergeAll(
  CustomerOrders.layer,
  Addresses.layer,
  CustomerGroups.layer,
  Interactions.layer
).pipe(
  Layer.provideMerge(Customers.layer),
  Layer.provide(
    Layer.mergeAll(
      CustomerRepo.layer,
      AddressRepo.layer,
      CustomerGroupRepo.layer,
      InteractionRepo.layer,
      OrderRepo.layer,
      TaxExemptionRepo.layer,
      Hooks.layerNone
    )
  ),
  Layer.provide(CacheInvalidation.layer),
  Layer.provideMerge(TestDatabase)
)

/** An order of a guest with this address. */
const ofGuest = Effect.fnUntraced(function*(email: string | null, organizationId = "org_default") {
  const sql = yield* SqlClient.SqlClient
  const { id } = yield* buildOrder({ organizationId })
  yield* sql`update orders set email = ${email} where id = ${id}::uuid`
  return id
})

const ownerOf = Effect.fnUntraced(function*(orderId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ customer_id: string | null }>`select customer_id from orders where id = ${orderId}::uuid`
  return row?.customer_id ?? null
})

const claimAs = (actor: Actor) =>
  Effect.flatMap(CustomerOrders, ({ claimGuestOrders }) => claimGuestOrders).pipe(
    Effect.provideService(CurrentActor, actor)
  )

const profileOf = (actor: Actor) =>
  Effect.flatMap(Customers, ({ ownProfileId }) => ownProfileId).pipe(Effect.provideService(CurrentActor, actor))

it.layer(Services, { excludeTestServices: true, timeout: "60 seconds" })("orders of customers", (it) => {
  it.effect("orders of customers that guests placed are assigned to the user with the address, once, in one statement", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into organizations (id, slug, name) values ('org_two', 'two', 'Two') on conflict do nothing`
      const ann = shopper("ann", " Ann@Example.test")
      const mine = [yield* ofGuest("ann@example.test"), yield* ofGuest("ANN@example.TEST")]
      const others = [
        yield* ofGuest("anna@example.test"),
        yield* ofGuest(null),
        yield* ofGuest("ann@example.test", "org_two")
      ]
      const taken = yield* buildOrder({ customerId: newId() })
      yield* sql`update orders set email = 'ann@example.test' where id = ${taken.id}::uuid`
      const profile = yield* profileOf(ann)
      assert.strictEqual((yield* statementsOf(claimAs(ann))).length, 3, "the look-up, the profile and the claim")
      for (const id of mine) assert.strictEqual(yield* ownerOf(id), profile)
      for (const id of [...others, taken.id]) assert.notStrictEqual(yield* ownerOf(id), profile)
      assert.strictEqual(yield* claimAs(ann), 0)
      assert.strictEqual((yield* statementsOf(claimAs(ann))).length, 1, "only a look-up where nothing is to be claimed")
      const entries = yield* sql<{ payload: object; before: object; actor_id: string }>`select payload, before, actor_id
        from outbox_events where type = 'orders.claim' order by entry_number`
      assert.sameDeepMembers(
        [...entries],
        mine.map((orderId) => ({
          payload: { orderId, customerId: profile },
          before: { orderId, customerId: null },
          actor_id: "ann"
        }))
      )
    }))

  it.effect("orders of customers are claimed by one of two concurrent users, and never by visitors, keys or logins without an address", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (let n = 0; n < 10; n++) yield* ofGuest("ben@example.test")
      const [one, two] = [shopper("ben-1", "ben@example.test"), shopper("ben-2", "ben@example.test")]
      for (const other of [{ ...one, userId: null }, { ...manager(), email: "ben@example.test" }]) {
        assert.strictEqual(yield* claimAs(other), 0)
      }
      assert.strictEqual(yield* claimAs(shopper("ben-3", null)), 0)
      assert.strictEqual(yield* claimAs(shopper("ben-4", " ")), 0)
      const claimed = yield* Effect.all([claimAs(one), claimAs(two), claimAs(one)], { concurrency: "unbounded" })
      assert.strictEqual(claimed.reduce((sum, count) => sum + count, 0), 10)
      const entries = yield* sql`select 1 from outbox_events where type = 'orders.claim'
        and actor_id in ('ben-1', 'ben-2')`
      assert.strictEqual(entries.length, 10)
    }))

  it.effect("orders of customers and all lists of customers are read over indexes with a fixed number of statements", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const cleo = shopper("cleo", "cleo@example.test")
      const id = (yield* profileOf(cleo)) ?? assert.fail("no profile")
      yield* ofGuest("cleo@example.test")
      yield* aLargeShop(id)
      const page = { page: 1, limit: 20 }
      const [group] = yield* sql<{ id: CustomerGroupId }>`select id from customer_groups where name = 'g1'`
      const [customers, orders] = [yield* Customers, yield* CustomerOrders]
      const [addresses, groups, interactions] = [yield* Addresses, yield* CustomerGroups, yield* Interactions]
      const lists = [
        { name: "customers", read: customers.list(page), index: "customers_created", statements: 2 },
        {
          name: "orders of the caller",
          read: orders.listOwn(undefined, page),
          index: "orders_customer",
          statements: 1
        },
        { name: "those of a status", read: orders.listOwn("confirmed", page), index: "orders_", statements: 1 },
        { name: "orders", read: orders.of(id, undefined, page), index: "orders_customer", statements: 2 },
        { name: "totals", read: orders.totalsOf(id), index: "orders_customer", statements: 1 },
        { name: "addresses", read: addresses.of(id, page), index: "customer_addresses_customer", statements: 3 },
        { name: "groups", read: groups.list(page), index: "customer_groups_name", statements: 2 },
        {
          name: "members",
          read: groups.members(group?.id ?? newId<CustomerGroupId>(), page),
          index: "customer_group_members_",
          statements: 3
        },
        {
          name: "interactions",
          read: interactions.list(id, page),
          index: "customer_interactions_customer",
          statements: 3
        },
        { name: "claims", read: orders.claimGuestOrders, index: "orders_email", statements: 3 }
      ]
      for (const { index, name, read, statements } of lists) {
        const plans = yield* Effect.provideService(plansOf<unknown, unknown, CurrentActor>(read), CurrentActor, {
          ...cleo,
          organizationId: "org_default"
        })
        assert.strictEqual(plans.length, statements, name)
        assert.include(plans.join("\n"), index, name)
        assert.notMatch(plans.join("\n"), /Seq Scan on (customer|orders|order_lines)/, `${name}\n${plans.join("\n")}`)
      }
    }))
})

/** 20,000 customers and as many orders; 200 orders, 200 notes and 20 addresses of one customer. */
const aLargeShop = Effect.fnUntraced(function*(customerId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* inBulk(ordersAndNotes(customerId))
  yield* sql`insert into customer_group_members (organization_id, group_id, customer_id)
    select 'org_default', g.id, c.id from customers c
      join customer_groups g on g.name = 'g' || (1 + substr(c.user_id, 6)::int / 2 % 50)
    where c.organization_id = 'org_default' and c.user_id like 'bulk-%'`
  yield* sql`vacuum analyze`
})

const ordersAndNotes = Effect.fnUntraced(function*(customerId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into customers (id, organization_id, user_id, created_at)
    select gen_random_uuid(), case n % 2 when 0 then 'org_default' else 'org_two' end, 'bulk-' || n,
      now() - n * interval '1 minute'
    from generate_series(1, 20000) n`
  yield* sql`insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total, email, placed_at)
    select gen_random_uuid(), 'org_default', 'ORD-1999-' || lpad(n::text, 6, '0'),
      case when n <= 200 then ${customerId}::uuid when n % 2 = 0 then gen_random_uuid() end,
      case n % 4 when 0 then 'confirmed' else 'fulfilled' end, 'USD', 100, 0, 0, 0, 100,
      'guest-' || n || '@example.test', now() - n * interval '1 minute'
    from generate_series(1, 20000) n`
  yield* sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title, quantity,
      unit_price, total_price)
    select gen_random_uuid(), organization_id, id, 1, gen_random_uuid(), 'product', 'Thing', 1, 100, 100 from orders
      where order_number like 'ORD-1999-%'`
  yield* sql`insert into customer_groups (id, organization_id, name)
    select gen_random_uuid(), case when n <= 500 then 'org_default' else 'org_two' end, 'g' || n
    from generate_series(1, 20000) n`
  yield* sql`insert into customer_interactions (id, organization_id, customer_id, kind, notes)
    select gen_random_uuid(), organization_id, id, 'call', 'x' from customers`
  yield* sql`insert into customer_interactions (id, organization_id, customer_id, kind, notes)
    select gen_random_uuid(), 'org_default', ${customerId}::uuid, 'call', 'x' from generate_series(1, 200)`
  yield* sql`insert into customer_addresses (id, organization_id, customer_id, type, first_name, last_name, line1, city,
      country)
    select gen_random_uuid(), organization_id, id, 'shipping', 'a', 'b', 'c', 'd', 'e' from customers`
})
