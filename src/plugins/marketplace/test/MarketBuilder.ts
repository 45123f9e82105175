import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aGuestCart, aProduct, checkOut, type ProductOptions, putInto } from "../../../../test/support/Purchase.ts"
import { api, asAdmin, asCustomer, inOrganization, theOrganization } from "../../../../test/support/TestApp.ts"
import type { Actor } from "../../../domain/access/Actor.ts"
import { newId } from "../../../domain/ids/Id.ts"
import { rowsOf } from "../../kit/tables/PluginDatabase.ts"
import type { VendorRole } from "../parties/VendorPortal.ts"

/** A vendor to be made; approved, and without a commission rule for it. */
export interface VendorSpec {
  readonly organizationId?: string
  readonly name?: string
  readonly status?: "pending" | "approved" | "suspended" | "rejected"
  readonly tier?: "standard" | "silver" | "gold" | "platinum"
  readonly commissionRateBps?: number
  readonly holdbackDays?: number
  readonly payoutMinimumCents?: number
}

let made = 0

/** Inserts a vendor and gives its id. */
export const insertVendor = (spec: VendorSpec = {}) => Effect.orDie(vendorInserted(spec))

const vendorInserted = Effect.fnUntraced(function*(spec: VendorSpec) {
  const sql = yield* SqlClient.SqlClient
  const id = newId()
  const { name = `Vendor ${++made}` } = spec
  const organizationId = spec.organizationId ?? (yield* theOrganization)
  yield* sql`insert into organizations (id, name, slug) values (${organizationId}, ${organizationId}, ${organizationId})
    on conflict do nothing`
  yield* sql`insert into marketplace_vendors (id, organization_id, name, slug, status, tier, commission_rate_bps,
      holdback_days, payout_minimum_cents)
    values (${id}::uuid, ${organizationId}, ${name}, ${id}, ${spec.status ?? "approved"}, ${spec.tier ?? "standard"},
      ${spec.commissionRateBps ?? 1000}, ${spec.holdbackDays ?? 7}, ${spec.payoutMinimumCents ?? 5000})`
  return id
})

/** An account as it stands: its balance, what its entries add up to, and whether they are numbered and summed without gaps. */
export const accountOf = (vendorId: string, currency = "USD") => Effect.orDie(accountRead(vendorId, currency))

const accounts = rowsOf(Schema.Struct({
  balance: Schema.String,
  count: Schema.Int,
  sum: Schema.String,
  numbered: Schema.Boolean,
  running: Schema.Boolean
}))
const entries = rowsOf(Schema.Struct({ type: Schema.String, amount: Schema.Int }))

const accountRead = Effect.fnUntraced(function*(vendorId: string, currency: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* accounts(sql)`
    with e as (select *, sum(amount_cents) over (order by entry_number) as so_far,
        row_number() over (order by entry_number) as place
      from marketplace_vendor_balances where vendor_id = ${vendorId}::uuid and currency = ${currency})
    select a.balance_cents::text as balance, a.entry_count as count, coalesce((select sum(amount_cents) from e), 0)::text as sum,
      coalesce((select bool_and(place = entry_number) from e), true) and a.entry_count = (select count(*) from e) as numbered,
      coalesce((select bool_and(so_far = running_balance_cents) from e), true) as running
    from marketplace_vendor_accounts a where a.vendor_id = ${vendorId}::uuid and a.currency = ${currency}`
  return row === undefined
    ? { balance: 0, entries: 0, sum: 0, exact: true }
    : {
      balance: Number(row.balance),
      entries: row.count,
      sum: Number(row.sum),
      exact: row.numbered && row.running && row.balance === row.sum
    }
})

/** Statements of a test on the service's own database. */
const inMarket = <A>(effect: Effect.Effect<A, never, SqlClient.SqlClient>) =>
  onDatabase((sql) => Effect.provideService(effect, SqlClient.SqlClient, sql))

/** A vendor of the running service. */
export const aVendor = (spec: VendorSpec = {}) => inMarket(insertVendor(spec))

/** What a vendor of the running service is owed (`accountOf`). */
export const owedTo = (vendorId: string, currency = "USD") => inMarket(accountOf(vendorId, currency))

/** A member of a vendor, with the permissions of a customer. */
export const asVendor = (
  vendorId: string,
  organizationId = "org_default",
  vendorRole: VendorRole = "owner"
): Partial<Actor> => inOrganization(organizationId, { ...asCustomer(`user-of-${vendorId}`), vendorId, vendorRole })

/** Makes a thing of the catalog a vendor's. */
export const giveTo = (vendorId: string, entityId: string, within?: string) =>
  onDatabase((sql, organizationId) =>
    sql`insert into marketplace_vendor_entities (organization_id, vendor_id, entity_id)
      values (${within ?? organizationId}, ${vendorId}::uuid, ${entityId}::uuid)`
  )

/** A product of a vendor that can be bought, and its id. */
export const aProductOf = Effect.fnUntraced(function*(vendorId: string, options: ProductOptions = {}) {
  const entityId = yield* aProduct(options)
  yield* giveTo(vendorId, entityId)
  return entityId
})

/** Buys things by checkout, each so many times; the order's id. */
export const anOrderOf = Effect.fnUntraced(
  function*(things: ReadonlyArray<readonly [entityId: string, quantity?: number]>, checkout: object = {}) {
    const cart = yield* aGuestCart()
    for (const [entityId, quantity = 1] of things) yield* putInto(cart, entityId, quantity)
    const placed = yield* checkOut(cart, checkout)
    assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
    return placed.text("data.id")
  }
)

/** The sub-orders of an order as staff reads them. */
export const subOrdersOf = (orderId: string) =>
  api("GET", `/api/marketplace/sub-orders?orderId=${orderId}&limit=100`, { as: asAdmin })

/** A vendor's sub-order of an order: where it stands in what `subOrdersOf` answers, so that its fields can be read. */
export const subOrderOf = Effect.fnUntraced(function*(orderId: string, vendorId: string) {
  const all = yield* subOrdersOf(orderId)
  const index = all.list("data").findIndex((_, at) => all.at(`data.${at}.vendorId`) === vendorId)
  assert.notStrictEqual(index, -1, `no sub-order of ${vendorId}: ${JSON.stringify(all.body)}`)
  return yield* api("GET", `/api/marketplace/sub-orders/${all.text(`data.${index}.id`)}`, { as: asAdmin })
})

/** Entries of a vendor's ledger in their order: type and amount. */
export const entriesOf = (vendorId: string) =>
  Effect.map(
    onDatabase((sql) =>
      entries(sql)`select type, amount_cents::float8 as amount from marketplace_vendor_balances
        where vendor_id = ${vendorId}::uuid order by currency, entry_number`
    ),
    (rows) => rows.map(({ amount, type }) => [type, amount] as const)
  )
