import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CustomerCartRepo, customerCartRepoLayer } from "../../src/domain/carts/CustomerCartRepo.ts"
import { addressOf, maxAddresses } from "../../src/domain/customers/Address.ts"
import { AddressRepo, addressRepoLayer } from "../../src/domain/customers/AddressRepo.ts"
import { CustomerGroupRepo, customerGroupRepoLayer } from "../../src/domain/customers/CustomerGroupRepo.ts"
import { CustomerRepo, customerRepoLayer } from "../../src/domain/customers/CustomerRepo.ts"
import { ErasureRepo, erasureRepoLayer } from "../../src/domain/customers/ErasureRepo.ts"
import { GroupMemberRepo, groupMemberRepoLayer } from "../../src/domain/customers/GroupMemberRepo.ts"
import { InteractionRepo, interactionRepoLayer } from "../../src/domain/customers/InteractionRepo.ts"
import { OrderRecordRepo, orderRecordRepoLayer } from "../../src/domain/customers/OrderRecordRepo.ts"
import { DownloadRepo, downloadRepoLayer } from "../../src/domain/fulfillment/DownloadRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { CustomerOrderRepo, customerOrderRepoLayer } from "../../src/domain/orders/CustomerOrderRepo.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, here } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  addressRepoLayer,
  customerCartRepoLayer,
  customerGroupRepoLayer,
  customerOrderRepoLayer,
  customerRepoLayer,
  downloadRepoLayer,
  erasureRepoLayer,
  groupMemberRepoLayer,
  interactionRepoLayer,
  orderRecordRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

const page = { page: 1, limit: 9 }
const changed = () => {
  throw new Error("The rule of a change was asked about another organization's record.")
}

/** A customer of ours with an address, a note, a group, an order with a file, and a cart. */
const aCustomer = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) values ('org_elsewhere', 'elsewhere', 'Elsewhere')
    on conflict do nothing`
  const [id, address, group, note] = [newId(), newId(), newId(), newId()]
  yield* sql`insert into customers (id, organization_id, user_id, first_name)
    values (${id}::uuid, 'org_default', ${id}, 'Ann')`
  yield* sql`insert into customer_addresses (id, organization_id, customer_id, type, is_default, first_name, last_name,
      line1, city, country)
    values (${address}::uuid, 'org_default', ${id}::uuid, 'shipping', true, 'a', 'b', 'c', 'd', 'e')`
  yield* sql`insert into customer_groups (id, organization_id, name) values (${group}::uuid, 'org_default', ${group})`
  yield* sql`insert into customer_group_members (organization_id, group_id, customer_id)
    values ('org_default', ${group}::uuid, ${id}::uuid)`
  yield* sql`insert into customer_interactions (id, organization_id, customer_id, kind, notes)
    values (${note}::uuid, 'org_default', ${id}::uuid, 'call', 'x')`
  const order = yield* buildOrder({ customerId: id })
  yield* sql`update order_lines set entity_type = 'digitalDownload' where order_id = ${order.id}::uuid`
  yield* sql`insert into carts (id, organization_id, customer_id, status, currency, secret_hash, expires_at)
    values (${newId()}::uuid, 'org_default', ${id}::uuid, 'active', 'USD', 'hash', now() + interval '1 day')`
  return { id, address, group, note, order: order.id }
})

/** All that is kept of him, as text. */
const kept = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`select c::text, (select a::text from customer_addresses a where customer_id = c.id),
        (select i::text from customer_interactions i where customer_id = c.id),
        (select m::text from customer_group_members m where customer_id = c.id),
        (select o::text from orders o where customer_id = c.id), (select k::text from carts k where customer_id = c.id)
      from customers c where id = ${id}::uuid`
  )

/** The services in front of these repositories look first, and so would hide a repository that does not. */
it.layer(Repos, { excludeTestServices: true })("customers of another organization, asked past their services", (it) => {
  it.effect("show nothing", () =>
    Effect.gen(function*() {
      const { group, id, order } = yield* aCustomer
      const [addresses, carts, groups] = [yield* AddressRepo, yield* CustomerCartRepo, yield* CustomerGroupRepo]
      const [members, notes, orders] = [yield* GroupMemberRepo, yield* InteractionRepo, yield* CustomerOrderRepo]
      const [customers, downloads] = [yield* CustomerRepo, yield* DownloadRepo]
      const counts = Effect.all([
        Effect.map(addresses.list(id, page), ({ items, total }) => items.length + total),
        Effect.map(carts.of(id, 9), ({ length }) => length),
        Effect.map(groups.list(page), ({ items, total }) => items.length + total),
        Effect.map(groups.find(group), (found) => found === undefined ? 0 : 1),
        Effect.map(members.list(group, page), ({ items, total }) => items.length + total),
        Effect.map(notes.list(id, page), ({ items, total }) => items.length + total),
        Effect.map(orders.spent(id), ({ length }) => length),
        Effect.map(downloads.ofOrder(order, page), ({ items, total }) => items.length + total),
        Effect.map(customers.list(page), ({ items, total }) => items.length + total)
      ])
      assert.deepStrictEqual(yield* here(counts), [2, 1, 2, 1, 2, 2, 1, 2, 2])
      assert.deepStrictEqual(yield* elsewhere(counts), [0, 0, 0, 0, 0, 0, 0, 0, 0])
    }))

  it.effect("cannot be changed, and get nothing", () =>
    Effect.gen(function*() {
      const { address, group, id, note } = yield* aCustomer
      const before = yield* kept(id)
      const [addresses, groups, members] = [yield* AddressRepo, yield* CustomerGroupRepo, yield* GroupMemberRepo]
      const [customers, erasure, notes] = [yield* CustomerRepo, yield* ErasureRepo, yield* InteractionRepo]
      const sent = { type: "shipping", firstName: "x", lastName: "x", line1: "x", city: "x", country: "x" } as const
      const outsider = elsewhere
      assert.strictEqual(
        yield* outsider(addresses.add(addressOf(newId(), id, { ...sent, isDefault: true }))),
        "no such customer"
      )
      assert.isFalse(yield* outsider(addresses.remove(id, address)))
      assert.isUndefined(yield* outsider(groups.change(group, changed)))
      assert.isFalse(yield* outsider(groups.remove(group)))
      assert.deepStrictEqual(yield* outsider(members.set(group, id, false)), { _tag: "Unknown", what: "group" })
      assert.isUndefined(yield* outsider(customers.change(id, changed)))
      assert.deepStrictEqual(yield* outsider(erasure.erase(id, new Date())), { _tag: "Nobody" })
      assert.isUndefined(yield* outsider(notes.change(id, note, changed)))
      assert.isFalse(yield* outsider(notes.remove(id, note)))
      const [first] = (yield* here(notes.list(id, page))).items
      if (first !== undefined) assert.isFalse(yield* outsider(notes.insert({ ...first, id: newId() })))
      assert.deepStrictEqual(yield* kept(id), before)
    }))

  it.effect("keep what another organization has under the same id when one erases its own", () =>
    Effect.gen(function*() {
      const { id } = yield* aCustomer
      const sql = yield* SqlClient.SqlClient
      const tables = ["customer_addresses", "customer_interactions", "customer_group_members", "orders", "carts"]
      for (const table of tables) {
        yield* sql`update ${sql(table)} set organization_id = 'org_elsewhere' where customer_id = ${id}::uuid`
      }
      // What is under way there keeps nobody here.
      yield* sql`update orders set status = 'pending' where customer_id = ${id}::uuid`
      yield* sql`update carts set status = 'checking_out' where customer_id = ${id}::uuid`
      const rows = Effect.forEach(
        tables,
        (table) => sql`select t::text as row from ${sql(table)} t where customer_id = ${id}::uuid`
      )
      const before = yield* rows
      assert.deepStrictEqual(before.map(({ length }) => length), [1, 1, 1, 1, 1])
      assert.strictEqual((yield* here((yield* ErasureRepo).erase(id, new Date())))._tag, "Erased")
      assert.deepStrictEqual(yield* rows, before)
      const recorded = yield* sql<{ readonly before: object }>`select before from outbox_events
        where entity_id = ${id} and type = 'customers.erase'`
      assert.deepStrictEqual(recorded.map((one) => one.before), [{
        addresses: 0,
        interactions: 0,
        orders: 0,
        carts: 0
      }])
    }))

  it.effect("keep what another organization has under an order or a cart of a person who is erased here", () =>
    Effect.gen(function*() {
      const { group, id, order } = yield* aCustomer
      const sql = yield* SqlClient.SqlClient
      yield* sql`update orders set status = 'fulfilled' where id = ${order}::uuid`
      yield* sql`update order_lines set organization_id = 'org_elsewhere', metadata = '{"for": "Ann"}'
        where order_id = ${order}::uuid`
      yield* sql`insert into order_notes (id, organization_id, order_id, text, visibility, author_name)
        values (${newId()}::uuid, 'org_elsewhere', ${order}::uuid, 'Ann', 'internal', 'Staff')`
      yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency,
          notes)
        select ${newId()}::uuid, 'org_elsewhere', id, ${newId()}::uuid, 1, 5, 'USD', 'for Ann' from carts
        where customer_id = ${id}::uuid`
      yield* sql`update customer_group_members set organization_id = 'org_elsewhere' where customer_id = ${id}::uuid`
      yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        values (${newId()}::uuid, 'org_elsewhere', ${order}::uuid, 1, 'Ann sent it back', 'completed')`
      const rows = Effect.all([
        sql`select r::text as row from refunds r where order_id = ${order}::uuid`,
        sql`select l::text as row from order_lines l where order_id = ${order}::uuid`,
        sql`select n::text as row from order_notes n where order_id = ${order}::uuid`,
        sql`select l::text as row from cart_lines l join carts c on c.id = l.cart_id
          where c.customer_id = ${id}::uuid`,
        sql`select m::text as row from customer_group_members m where customer_id = ${id}::uuid`
      ])
      const before = yield* rows
      assert.deepStrictEqual(before.map(({ length }) => length), [1, 1, 1, 1, 1])
      assert.deepStrictEqual(yield* here((yield* GroupMemberRepo).set(group, id, false)), { _tag: "Unchanged" })
      assert.strictEqual((yield* here((yield* ErasureRepo).erase(id, new Date())))._tag, "Erased")
      assert.deepStrictEqual(yield* rows, before)
    }))

  it.effect("are told of no note about an order of another organization, nor of one that it wrote", () =>
    Effect.gen(function*() {
      const { id, order } = yield* aCustomer
      const sql = yield* SqlClient.SqlClient
      const records = yield* OrderRecordRepo
      const note = newId()
      yield* sql`insert into order_notes (id, organization_id, order_id, text, visibility, author_name)
        values (${note}::uuid, 'org_default', ${order}::uuid, 'Ann', 'customer', 'Staff')`
      const notes = Effect.map(here(records.of(id, 9)), (all) => all.notes.length)
      const give = (table: string, what: string, to: string) =>
        sql`update ${sql(table)} set organization_id = ${to} where id = ${what}::uuid`
      assert.strictEqual(yield* notes, 1)
      yield* give("orders", order, "org_elsewhere")
      assert.strictEqual(yield* notes, 0)
      yield* give("orders", order, "org_default")
      yield* give("order_notes", note, "org_elsewhere")
      assert.strictEqual(yield* notes, 0)
    }))

  it.effect("have as many addresses as one may, whatever is elsewhere in a person's name", () =>
    Effect.gen(function*() {
      const { id } = yield* aCustomer
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into customer_addresses (id, organization_id, customer_id, type, is_default, first_name, last_name,
          line1, city, country)
        select gen_random_uuid(), 'org_elsewhere', ${id}::uuid, 'shipping', false, 'a', 'b', 'c', 'd', 'e'
        from generate_series(1, ${maxAddresses}::int)`
      const sent = { type: "shipping", firstName: "x", lastName: "x", line1: "x", city: "x", country: "x" } as const
      assert.strictEqual(yield* here((yield* AddressRepo).add(addressOf(newId(), id, sent))), "added")
    }))
})
