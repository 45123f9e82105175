import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { CustomerCartRepo, customerCartRepoLayer } from "../../src/domain/carts/CustomerCartRepo.ts"
import { addressOf } from "../../src/domain/customers/Address.ts"
import { AddressRepo, addressRepoLayer } from "../../src/domain/customers/AddressRepo.ts"
import { CustomerGroupRepo, customerGroupRepoLayer } from "../../src/domain/customers/CustomerGroupRepo.ts"
import { CustomerRepo, customerRepoLayer } from "../../src/domain/customers/CustomerRepo.ts"
import { ErasureRepo, erasureRepoLayer } from "../../src/domain/customers/ErasureRepo.ts"
import { GroupMemberRepo, groupMemberRepoLayer } from "../../src/domain/customers/GroupMemberRepo.ts"
import { InteractionRepo, interactionRepoLayer } from "../../src/domain/customers/InteractionRepo.ts"
import { DownloadRepo, downloadRepoLayer } from "../../src/domain/fulfillment/DownloadRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { CustomerOrderRepo, customerOrderRepoLayer } from "../../src/domain/orders/CustomerOrderRepo.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const Repos = Layer.mergeAll(
  addressRepoLayer,
  customerCartRepoLayer,
  customerGroupRepoLayer,
  customerOrderRepoLayer,
  customerRepoLayer,
  downloadRepoLayer,
  erasureRepoLayer,
  groupMemberRepoLayer,
  interactionRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))
const here = as("org_default")
const elsewhere = as("org_elsewhere")

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
      const stranger = elsewhere
      assert.strictEqual(
        yield* stranger(addresses.add(addressOf(newId(), id, { ...sent, isDefault: true }))),
        "no such customer"
      )
      assert.isFalse(yield* stranger(addresses.remove(id, address)))
      assert.isUndefined(yield* stranger(groups.change(group, changed)))
      assert.isFalse(yield* stranger(groups.remove(group)))
      assert.deepStrictEqual(yield* stranger(members.set(group, id, false)), { _tag: "Unknown", what: "group" })
      assert.isUndefined(yield* stranger(customers.change(id, changed)))
      assert.isUndefined(yield* stranger(erasure.erase(id, new Date())))
      assert.isUndefined(yield* stranger(notes.change(id, note, changed)))
      assert.isFalse(yield* stranger(notes.remove(id, note)))
      const [first] = (yield* here(notes.list(id, page))).items
      if (first !== undefined) assert.isFalse(yield* stranger(notes.insert({ ...first, id: newId() })))
      assert.deepStrictEqual(yield* kept(id), before)
    }))
})
