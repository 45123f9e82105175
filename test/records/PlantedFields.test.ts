import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CartLine, carts, toState } from "../../src/domain/carts/Cart.ts"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { CreateOrderRepo, createOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { Order, OrderLine, orderTaxes } from "../../src/domain/orders/Order.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { storedOrder } from "../../src/domain/orders/OrderTable.ts"
import { OrderPayment } from "../../src/domain/orders/Tender.ts"
import type { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { ApiKey } from "../../src/domain/platform/access/ApiKey.ts"
import { ApiKeyRepo } from "../../src/domain/platform/credentials/ApiKeyRepo.ts"
import { Table } from "../../src/domain/platform/records/Table.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { aPendingOrder, inStore } from "../checkout/NewOrder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { tables } from "./DeclaredTables.ts"
import { everyField } from "./EveryField.ts"

const organizationId = "org_default"

/** Drops what keeps a row of unrelated values out of a table, until the transaction ends. */
const unconstrained = Effect.fnUntraced(function*({ name, names }: Table<object>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`set local session_replication_role = replica`
  const found = yield* sql<{ name: string }>`select c.conname as name from pg_constraint c
    where c.conrelid = ${name}::regclass and c.coninhcount = 0
      and (c.contype in ('p', 'c') or c.contype = 'n' and not exists (select 1 from pg_attribute a
        where a.attrelid = c.conrelid and a.attnum = any(c.conkey) and (a.attidentity <> '' or a.attname = any(${
    names.split(", ")
  }::text[]))))
    order by c.contype = 'n'`
  for (const constraint of found) yield* sql`alter table ${sql(name)} drop constraint ${sql(constraint.name)} cascade`
})

/** A record with a value in every stored field, and what is read of it. */
interface Round {
  readonly written: object
  readonly read: object | undefined
}

const throughTable = Effect.fnUntraced(function*(declared: Table<object>) {
  const sql = yield* SqlClient.SqlClient
  const stored = Schema.Struct(Struct.omit(declared.schema.fields, Object.keys(declared.computed)))
  const table = new Table(declared.name, stored, { casts: declared.casts })
  yield* unconstrained(table)
  // Triggers keep what processes of the previous version read.
  yield* sql`set local session_replication_role = replica`
  const name = sql(table.name)
  yield* sql`delete from ${name}`
  const written = everyField(table)
  yield* sql`insert into ${name} (${sql.literal(table.names)}) ${table.values(sql, [written])}`
  const [read] = yield* table.rows(sql)`select ${sql.literal(table.columns("r"))} from ${name} r`
  return { read, written }
})

const throughKeys = Effect.gen(function*() {
  // Uses of a key write the other fields.
  const written = everyField({ schema: ApiKey }, { lastRequest: null, requestCount: 0, permissions: ["orders:read"] })
  const { find, insert } = yield* ApiKeyRepo
  yield* insert(written, "hash")
  return { read: yield* find(written.id), written }
})

/** Columns of API keys have another form than the record, which the repository makes. */
const throughPath = (
  table: Table<object>
): Effect.Effect<Round, SqlError.SqlError, ApiKeyRepo | CurrentActor | SqlClient.SqlClient> =>
  table.name === "api_keys" ? throughKeys : throughTable(table)

const layer = Layer.mergeAll(ApiKeyRepo.layer, CartRepo.layer, createOrderRepoLayer, OrderRepo.layer).pipe(
  Layer.provide(StoreSettings.layerOf({})),
  Layer.provideMerge(TestDatabase)
)

it.layer(layer, { excludeTestServices: true })("every field of a record", (it) => {
  it.effect("of any table comes back as it was written", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const table of yield* tables) {
        const found = yield* throughPath(table).pipe(
          Effect.flatMap(Effect.fail),
          sql.withTransaction,
          Effect.flip,
          inStore
        )
        if (!("written" in found)) return yield* found
        const { read, written } = found
        assert.deepStrictEqual<unknown>(read, written, table.name)
      }
    }))

  /** Without what is derived from the rest. */
  const stored = ({ lineItems, ...order }: Order) => ({
    ...Struct.pick(order, [...Struct.keys(storedOrder), "importedAt", "isDraft"]),
    lineItems: lineItems.map(({ backordered: _, fulfillable: __, refundable: ___, ...line }) => line)
  })

  it.effect("of an order, its lines and its payments comes back after the checkout that created it", () =>
    Effect.gen(function*() {
      const made = yield* aPendingOrder()
      const { id } = made.order
      const line = everyField({ schema: OrderLine }, { orderId: id, quantity: 20, refundedQuantity: 7 })
      const order = everyField({ schema: Order }, {
        id,
        organizationId,
        lineItems: [line],
        subtotal: 500,
        discountTotal: 10,
        shippingTotal: 20,
        taxTotal: 3,
        taxIncluded: true,
        grandTotal: 510,
        amountCaptured: 510,
        refundedTotal: 9
      })
      const payment = everyField({ schema: OrderPayment }, { position: 0, amount: 510, captured: 510, refunded: 9 })
      const created = yield* CreateOrderRepo.use((repo) => repo.create({ ...made, order, payments: [payment] }))
      assert.strictEqual(created, "created")
      const found = yield* OrderRepo.use((repo) => repo.find(id))
      assert.deepStrictEqual<unknown>(found?.payments, [payment])
      assert.deepStrictEqual(found?.order.taxes, orderTaxes([line]))
      assert.deepStrictEqual<unknown>(found?.order && stored(found.order), stored(order))
    }).pipe(inStore))

  it.effect("of a cart and its lines comes back from the database", () =>
    Effect.gen(function*() {
      const { addLine, find, insert } = yield* CartRepo
      const expiresAt = new Date("2124-01-01T00:00:00.000Z")
      const row = everyField(carts, { organizationId, status: "active", expiresAt })
      const state = toState(row)
      yield* insert(state, row.choices)
      assert.deepStrictEqual<unknown>(yield* find(state.cart.id), { ...state, choices: row.choices, lines: [] })
      const lines = [{}, { color: "red" }].map((metadata) =>
        everyField({ schema: CartLine }, { cartId: state.cart.id, metadata })
      )
      for (const [n, line] of lines.entries()) {
        assert.deepStrictEqual<unknown>(yield* addLine({ ...state, version: state.version + n }, line), line)
      }
      const byId = (left: { readonly id: string }, right: { readonly id: string }) => left.id < right.id ? -1 : 1
      assert.deepStrictEqual([...(yield* find(state.cart.id))?.lines ?? []].sort(byId), lines.sort(byId))
    }).pipe(inStore))
})
