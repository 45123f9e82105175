import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { aGuestCart, aProduct, checkOut, type ProductOptions, putInto } from "../../../../test/support/Purchase.ts"
import {
  type Answer,
  api,
  asAdmin,
  asCustomer,
  inOrganization,
  sharedApp,
  type TestApp,
  testAppLayer
} from "../../../../test/support/TestApp.ts"
import { type Actor, CurrentActor, systemActor } from "../../../domain/access/Actor.ts"
import { EntityId, newId } from "../../../domain/ids/Id.ts"
import { Jobs } from "../../../domain/jobs/Jobs.ts"
import type { DeploymentConfig } from "../../../layers/config/DeploymentConfig.ts"
import type { PluginDatabase } from "../../kit/tables/PluginDatabase.ts"
import { pluginDatabase } from "../../kit/tables/PluginDatabaseRepo.ts"
import type { NewRowOf } from "../../kit/tables/Table.ts"
import { marketplace } from "../index.ts"
import { ledgerEntries, vendorAccounts } from "../ledger/Ledger.ts"
import type { MarketplaceSettings } from "../MarketplaceOptions.ts"
import type { VendorRole } from "../parties/VendorPortal.ts"
import { vendorEntities } from "../products/VendorProduct.ts"
import { vendors } from "../vendors/Vendor.ts"

const shared = sharedApp({ plugins: [marketplace()] })

type Services = Layer.Success<ReturnType<typeof testAppLayer>> | Scope.Scope

/** Declares a test: its title, and what it does. */
export type Test = (
  title: string,
  body: () => Generator<Effect.Effect<unknown, unknown, Services>, void, never>,
  timeout?: number
) => void

/** A group of tests around a store with the marketplace: a shared service, or a separate one for other options. */
export const market =
  (options?: Partial<MarketplaceSettings>, deployment: DeploymentConfig = {}) =>
  (name: string, tests: (test: Test) => void) =>
    layer(options === undefined ? shared : testAppLayer({ ...deployment, plugins: [marketplace(options)] }), {
      excludeTestServices: true,
      timeout: "60 seconds"
    })(name, (it) => tests((title, body, timeout) => it.effect(title, () => Effect.gen(body), timeout)))

/** Jobs run only when a test runs them. */
export const withoutWorker = { jobs: { autorun: { enabled: false } } } as const

export type Who = Partial<Actor> | undefined

/** A member of a vendor, with the permissions of a customer. */
export const asVendor = (vendorId: string, vendorRole: VendorRole = "owner", within = "org_default"): Partial<Actor> =>
  inOrganization(within, { ...asCustomer(`user-of-${vendorId}`), vendorId, vendorRole })

/** Sends `POST /disputes` of the marketplace, or `POST /api/orders` of the core, as an actor; undefined: a visitor. */
export const send = (as: Who, route: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const [method = "", path = ""] = route.split(" ")
  const call = { headers, ...(as === undefined ? {} : { as }), ...(body === undefined ? {} : { body }) }
  return api(method, path.startsWith("/api/") ? path : `/api/marketplace${path}`, call)
}

/** The same, and it has to succeed. */
export const done = (...call: Parameters<typeof send>) =>
  Effect.tap(
    send(...call),
    ({ body, status }) => Effect.sync(() => assert.isBelow(status, 300, `${call[1]} ${JSON.stringify(body)}`))
  )

/** The same, and it has to be refused with these: `404 NOT_FOUND`. */
export const refused = (with_: string, ...call: Parameters<typeof send>) =>
  Effect.tap(send(...call), (answer) =>
    Effect.sync(() => {
      const about = `${JSON.stringify(call.slice(1))} ${JSON.stringify(answer.body)}`
      assert.strictEqual(`${answer.status} ${answer.at("error.code")}`, with_, about)
    }))

/** Each of the bodies has to be refused. */
export const refusedBodies = (with_: string, as: Who, route: string, bodies: ReadonlyArray<unknown>) =>
  Effect.forEach(bodies, (body) => refused(with_, as, route, body))

/** The same so many times. */
export const times = <A>(count: number, one: A): ReadonlyArray<A> => Array.from({ length: count }, () => one)

/** Sends a request eight times at once: one succeeds with 201, and the others are refused. */
export const assertOnce = Effect.fnUntraced(function*<E, R>(call: Effect.Effect<Answer, E, R>, refusedWith = 422) {
  const answers = yield* Effect.all(times(8, call), { concurrency: 8 })
  assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...times(7, refusedWith)])
  return answers.find(({ status }) => status === 201)
})

/** A field of every row of a list. */
export const each = (answer: Answer, field: string): ReadonlyArray<unknown> =>
  answer.list("data").map((row) => Reflect.get(Object(row), field))

export const statusOf = (call: Effect.Effect<Answer, never, TestApp>) => Effect.map(call, ({ status }) => status)

/** Works on the tables of the plugin as the plugin does, in the organization of the test or another one. */
export const onTables = <A, E>(
  work: (db: PluginDatabase["Service"]) => Effect.Effect<A, E, CurrentActor>,
  within?: string
) =>
  onDatabase((sql, own) => {
    const id = within ?? own
    const opened = sql`insert into organizations (id, name, slug) values (${id}, ${id}, ${id}) on conflict do nothing`
    const worked = Effect.provideService(
      work(pluginDatabase({ sql, keyring: undefined }, marketplace())),
      CurrentActor,
      systemActor(id)
    )
    return Effect.andThen(opened, Effect.orDie(worked))
  })

export type VendorSpec = Partial<NewRowOf<typeof vendors>> & { readonly within?: string }

/** A vendor that is approved and has no minimum of payouts, unless the test says otherwise; its id. */
export const aVendor = ({ within, ...spec }: VendorSpec = {}) =>
  Effect.suspend(() => {
    const id = newId()
    const row = { id, name: `Vendor ${id}`, slug: id, status: "approved", payoutMinimumCents: 0, ...spec } as const
    return Effect.as(onTables((db) => db.table(vendors).insert(row), within), id)
  })

/** Makes a thing of the catalog a vendor's. */
export const giveTo = (vendorId: string, entityId: string) =>
  onTables((db) => db.table(vendorEntities).insert({ vendorId, entityId: EntityId.make(entityId) }))

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
export const subOrdersOf = (orderId: string) => done(asAdmin, `GET /sub-orders?orderId=${orderId}&limit=100`)

/** A vendor's sub-order of an order. */
export const subOrderOf = Effect.fnUntraced(function*(orderId: string, vendorId: string) {
  const found = yield* done(asAdmin, `GET /sub-orders?orderId=${orderId}&vendorId=${vendorId}`)
  return yield* done(asAdmin, `GET /sub-orders/${found.text("data.0.id")}`)
})

/** A vendor's account: balance, number of entries, and whether these are numbered and added up without a gap. */
export const accountOf = Effect.fnUntraced(function*(vendorId: string, currency = "USD", within?: string) {
  const [account, entries] = yield* onTables((db) =>
    Effect.all([
      db.table(vendorAccounts).first({ vendorId, currency }),
      db.table(ledgerEntries).list({ vendorId, currency }, { order: ["entryNumber"] })
    ]), within)
  let sum = 0
  const exact = entries.every(({ amountCents, entryNumber, runningBalanceCents }, at) =>
    entryNumber === at + 1 && runningBalanceCents === (sum += amountCents)
  )
  const [balance, count] = [account?.balanceCents ?? 0, account?.entryCount ?? 0]
  return { balance, entries: count, exact: exact && balance === sum && count === entries.length }
})

export const balanceOf = (vendorId: string, currency?: string) =>
  Effect.map(accountOf(vendorId, currency), ({ balance, exact }) => exact ? balance : "not the sum of its entries")

/** Entries of a vendor's ledger in their order: type and amount. */
export const entriesOf = (vendorId: string) =>
  Effect.map(
    onTables((db) => db.table(ledgerEntries).list({ vendorId }, { order: ["currency", "entryNumber"] })),
    (rows) => rows.map(({ amountCents, type }) => [type, amountCents] as const)
  )

/** How often an event of a record was announced. */
export const announced = (type: string, id: string) =>
  Effect.map(
    onDatabase((sql) => sql`select 1 from outbox_events where type = ${type} and entity_id = ${id}`),
    ({ length }) => length
  )

/**
 * Runs a task of the plugin for an organization, in an app without another worker on its queue; gives its output. The
 * scheduler's own job may take the place of this one.
 */
export const runTask = Effect.fnUntraced(function*(name: string, organizationId = "org_default") {
  const slug = `marketplace/${name}`
  const [before] = yield* onDatabase((sql) => sql`select clock_timestamp()::text as at`)
  yield* Effect.orDie((yield* Jobs).enqueue(slug, {}, { organizationId }))
  const output = onDatabase((sql) =>
    Effect.map(
      sql`select output, error, status from commerce_jobs where task_slug = ${slug}
        and organization_id = ${organizationId} and created_at >= ${before?.["at"] ?? null}::timestamptz
        and status in ('succeeded', 'failed')`,
      ([job]) => job?.["status"] === "failed" ? { failed: job["error"] } : job?.["output"]
    )
  )
  return yield* eventually(slug, Effect.andThen(api("POST", "/api/jobs/run"), output))
})
