import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuthRepo } from "../../src/domain/auth/AuthRepo.ts"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { addressOf, maxAddresses } from "../../src/domain/customers/Customer.ts"
import { CustomerGroupRepo } from "../../src/domain/customers/CustomerGroupRepo.ts"
import { AddressRepo } from "../../src/domain/customers/CustomerRecordsRepo.ts"
import { CustomerRepo } from "../../src/domain/customers/CustomerRepo.ts"
import { FulfillmentRepo } from "../../src/domain/fulfillment/FulfillmentRepo.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { ApiKeyRepo } from "../../src/domain/platform/credentials/ApiKeyRepo.ts"
import { type ApiKeyId, type CustomerGroupId, type CustomerId, newId } from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { PersonalDataRepo } from "../../src/domain/privacy/PersonalDataRepo.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import {
  answersApart,
  asOwner,
  insert,
  isFound,
  leavesOut,
  lengthOf,
  openAnother,
  outcomeOf,
  type Question,
  shown
} from "./AnotherTenant.ts"
import { rowsOf } from "./Footprint.ts"

const Repos = Layer.mergeAll(
  AddressRepo.layer,
  ApiKeyRepo.layer,
  AuthRepo.layer,
  Layer.provide(CartRepo.layer, StoreSettings.layerOf({})),
  CustomerGroupRepo.layer,
  OrderRepo.layer,
  CustomerRepo.layer,
  FulfillmentRepo.layer,
  PersonalDataRepo.layer
).pipe(Layer.provideMerge(TestDatabase))

const page = { page: 1, limit: 9 }
const at = new Date("2026-01-01")
const address = { type: "shipping", first_name: "a", last_name: "b", line1: "c", city: "d", country: "e" }
const sent = { type: "shipping", firstName: "x", lastName: "x", line1: "x", city: "x", country: "NL" } as const

/** A customer with an address, a note, a group, an order with a file, and a cart; and a key of the store. */
const aCustomer = Effect.gen(function*() {
  yield* openAnother
  const sql = yield* SqlClient.SqlClient
  const [id, group, cart, key] = [newId<CustomerId>(), newId<CustomerGroupId>(), newId(), newId<ApiKeyId>()]
  yield* insert("customers", { id, user_id: id, first_name: "Ann" })
  yield* insert("customer_addresses", { id: newId(), customer_id: id, is_default: true, ...address })
  yield* insert("customer_groups", { id: group, name: group })
  yield* insert("customer_group_members", { group_id: group, customer_id: id })
  yield* insert("customer_interactions", { id: newId(), customer_id: id, kind: "call", notes: "x" })
  const order = yield* buildOrder({ customerId: id })
  yield* sql`update order_lines set entity_type = 'digitalDownload' where order_id = ${order.id}::uuid`
  yield* insert("carts", {
    id: cart,
    customer_id: id,
    status: "active",
    currency: "USD",
    secret_hash: "h",
    expires_at: at
  })
  yield* insert("api_keys", { id: key, name: "a key", key, reference_id: "org_default", role: "staff" })
  return { id, group, key, cart, order: order.id }
})

type Records = Effect.Success<typeof aCustomer>

const questions: ReadonlyArray<Question<Records, Layer.Success<typeof Repos>>> = [
  ["carts", ({ id }) => CartRepo.use((repo) => lengthOf(repo.ofCustomer(id, 9))), 0, 1],
  ["members", ({ group }) => CustomerGroupRepo.use((repo) => shown(repo.members(group, page))), [0, 0], [1, 1]],
  ["spending", ({ id }) => OrderRepo.use((repo) => lengthOf(repo.spent(id))), 0, 1],
  ["files", ({ order }) => FulfillmentRepo.use((repo) => shown(repo.filesOf(order, page))), [0, 0], [1, 1]],
  [
    "groups of a customer",
    ({ id }) => CustomerRepo.use((repo) => Effect.map(repo.buyer(id), ({ groupIds }) => groupIds.length)),
    0,
    1
  ],
  ["a key", ({ key }) => ApiKeyRepo.use((repo) => isFound(repo.find(key))), false, true],
  [
    "a new address",
    ({ id }) => AddressRepo.use((repo) => outcomeOf(repo.add(addressOf(newId(), id, { ...sent, isDefault: true })))),
    "NotFound/Customer",
    "done"
  ],
  // The order is still open.
  [
    "an erasure",
    ({ id }) => PersonalDataRepo.use((repo) => outcomeOf(repo.erase(id, at))),
    "NotFound/Customer",
    "Conflict/OrdersOpen"
  ],
  ["no key", ({ key }) => ApiKeyRepo.use((repo) => repo.remove(key)), false, true]
]

it.layer(Repos, { excludeTestServices: true })("repositories of customers, keys and members", (it) => {
  it.effect("repositories of customers, keys and members answer another tenant nothing of the owner's records and change none", () =>
    Effect.flatMap(aCustomer, (customer) => answersApart(customer, questions)))

  it.effect("repositories of customers, keys and members erase a person without the rows of another tenant under the same ids, and without waiting for its orders", () =>
    Effect.gen(function*() {
      const { cart, group, id, order } = yield* aCustomer
      const sql = yield* SqlClient.SqlClient
      const another = { organization_id: "org_another", customer_id: id }
      const money = { currency: "USD", subtotal: 1, tax_total: 0, shipping_total: 0, discount_total: 0, grand_total: 1 }
      yield* insert("orders", { id: newId(), order_number: "N1", status: "pending", ...money, ...another })
      yield* insert("carts", {
        id: newId(),
        status: "checking_out",
        currency: "USD",
        secret_hash: "h",
        expires_at: at,
        ...another
      })
      for (const table of ["customer_addresses", "customer_interactions", "customer_group_members"]) {
        yield* sql`update ${sql(table)} set organization_id = 'org_another' where customer_id = ${id}::uuid`
      }
      yield* sql`update orders set status = 'fulfilled' where id = ${order}::uuid`
      yield* sql`update order_lines set organization_id = 'org_another', metadata = '{"for": "Ann"}'
        where order_id = ${order}::uuid`
      const ofOrder = { organization_id: "org_another", id: newId(), order_id: order }
      yield* insert("order_notes", { ...ofOrder, text: "Ann", visibility: "internal", author_name: "Staff" })
      yield* insert("refunds", { ...ofOrder, amount: 1, reason: "Ann sent it back", status: "completed" })
      const line = { cart_id: cart, entity_id: newId(), quantity: 1, unit_price_snapshot: 5, currency: "USD" }
      yield* insert("cart_lines", { organization_id: "org_another", id: newId(), notes: "for Ann", ...line })
      const kept = { metadata: "{}", metadata_hash: "of Ann's" }
      yield* insert("cart_lines_with_metadata", { organization_id: "org_another", id: newId(), ...kept, ...line })
      const before = yield* rowsOf("org_another")
      assert.isAtLeast(before.length, 10)
      assert.isUndefined(yield* asOwner(CustomerGroupRepo.use((repo) => repo.setMember(group, id, false))))
      assert.strictEqual((yield* asOwner(PersonalDataRepo.use((repo) => repo.erase(id, at)))).userId, null)
      assert.deepStrictEqual(yield* rowsOf("org_another"), before)
      const recorded =
        yield* sql`select before from outbox_events where entity_id = ${id} and type = 'customers.delete'`
      assert.deepStrictEqual(recorded, [{ before: { addresses: 0, interactions: 0, orders: 1, carts: 1 } }])
    }))

  it.effect("repositories of customers, keys and members export no note about an order of another tenant, nor one that another tenant wrote", () =>
    Effect.gen(function*() {
      for (const table of ["orders", "order_notes"]) {
        const { id, order } = yield* aCustomer
        const note = { id: newId(), order_id: order, text: "Ann", visibility: "customer", author_name: "Staff" }
        yield* insert("order_notes", note)
        const notes = PersonalDataRepo.use((repo) => Effect.map(repo.orderRecords(id, 9), (all) => all.notes.length))
        yield* leavesOut(notes, 1, [table, "id", table === "orders" ? order : note.id, 0])
      }
    }))

  it.effect("repositories of customers, keys and members count no address of another tenant towards the limit of a customer", () =>
    Effect.gen(function*() {
      const { id } = yield* aCustomer
      const theirs = { organization_id: "org_another", customer_id: id, ...address }
      yield* insert("customer_addresses", ...Array.from({ length: maxAddresses }, () => ({ id: newId(), ...theirs })))
      assert.strictEqual(
        yield* asOwner(AddressRepo.use((repo) => outcomeOf(repo.add(addressOf(newId(), id, sent))))),
        "done"
      )
    }))

  it.effect("repositories of customers, keys and members read the role that a member has in each organization", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const [both, one] = [newId(), newId()]
      for (const id of [both, one]) {
        yield* sql`insert into users (id, name, email) values (${id}::uuid, 'Ann', ${`${id}@example.com`})`
      }
      yield* insert(
        "members",
        { user_id: both, role: "staff" },
        { user_id: both, role: "owner", organization_id: "org_another" },
        { user_id: one, role: "admin" }
      )
      const { roleOf } = yield* AuthRepo
      const roles = [roleOf(both, "org_default"), roleOf(both, "org_another"), roleOf(one, "org_another")]
      assert.deepStrictEqual(yield* Effect.all(roles), ["staff", "owner", undefined])
    }))
})
