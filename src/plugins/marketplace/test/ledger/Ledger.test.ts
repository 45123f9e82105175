import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { statementsOf } from "../../../../../test/pricing/Statements.ts"
import { atOnce } from "../../../../../test/support/AtOnce.ts"
import { CurrentActor, systemActor } from "../../../../domain/access/Actor.ts"
import { newId } from "../../../../domain/ids/Id.ts"
import { PluginDatabase } from "../../../kit/tables/PluginDatabase.ts"
import type { Posting } from "../../ledger/Ledger.ts"
import { lockAccount, post as postTo } from "../../ledger/LedgerRepo.ts"
import { accountOf, insertVendor } from "../MarketBuilder.ts"
import { MarketDatabase } from "../MarketDatabase.ts"

const posting = (vendorId: string, amountCents: number, rest: Partial<Posting> = {}): Posting => ({
  vendorId,
  currency: "USD",
  type: amountCents < 0 ? "commission" : "sale",
  amountCents,
  referenceType: "sub_order",
  referenceId: newId(),
  ...rest
})

const acting = Effect.provideService(CurrentActor, systemActor("org_default"))
const post = (...postings: ReadonlyArray<Posting>) =>
  acting(Effect.flatMap(PluginDatabase, (db) => postTo(db, postings)))
const lock = (vendorId: string) =>
  acting(Effect.flatMap(PluginDatabase, (db) => lockAccount(db, { vendorId, currency: "USD" })))

it.layer(MarketDatabase, { excludeTestServices: true })("the ledger", (it) => {
  it.effect("numbers entries and carries the balance, in the order of the postings", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* insertVendor(), yield* insertVendor()]
      const entries = yield* post(
        posting(two, 1000),
        posting(one, 500),
        posting(two, -100),
        posting(one, 70, { currency: "EUR" })
      )
      assert.deepStrictEqual(
        entries.map(({ amountCents, entryNumber, runningBalanceCents, vendorId }) => [
          vendorId,
          amountCents,
          entryNumber,
          runningBalanceCents
        ]),
        [[two, 1000, 1, 1000], [one, 500, 1, 500], [two, -100, 2, 900], [one, 70, 1, 70]]
      )
      const [more] = yield* post(posting(two, 50))
      assert.deepInclude(more, { entryNumber: 3, runningBalanceCents: 950 })
      assert.deepStrictEqual(yield* accountOf(two), { balance: 950, entries: 3, sum: 950, exact: true })
      assert.deepStrictEqual(yield* accountOf(one, "EUR"), { balance: 70, entries: 1, sum: 70, exact: true })
    }))

  it.effect("leaves out entries of nothing", () =>
    Effect.gen(function*() {
      const vendor = yield* insertVendor()
      assert.deepStrictEqual(yield* post(posting(vendor, 0)), [])
      assert.strictEqual((yield* post(posting(vendor, 0), posting(vendor, 5))).length, 1)
      assert.deepStrictEqual(yield* accountOf(vendor), { balance: 5, entries: 1, sum: 5, exact: true })
    }))

  it.effect("takes one statement for any number of entries and vendors", () =>
    Effect.gen(function*() {
      const vendors = yield* Effect.replicateEffect(insertVendor(), 10)
      const postings = vendors.flatMap((vendor) => [posting(vendor, 100), posting(vendor, -10)])
      assert.strictEqual((yield* statementsOf(post(...postings))).length, 1)
      assert.strictEqual((yield* statementsOf(post(posting(vendors[0] ?? "", 1)))).length, 1)
    }))

  it.effect("stays exact when eight post to one account at the same moment", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* insertVendor(), yield* insertVendor()]
      yield* post(posting(one, 1), posting(two, 1))
      const locked = (sql: SqlClient.SqlClient) => sql`select 1 from marketplace_vendor_accounts for update`
      const together = atOnce(
        locked,
        // Each the other way round: one order of locks keeps them from waiting for each other.
        Array.from(
          { length: 8 },
          (_, n) => n % 2 === 0 ? post(posting(one, 100), posting(two, -7)) : post(posting(two, -7), posting(one, 100))
        )
      )
      // Those that are let go in the wrong order may be lucky once.
      yield* Effect.replicateEffect(together, 5)
      assert.deepStrictEqual(yield* accountOf(one), { balance: 4001, entries: 41, sum: 4001, exact: true })
      assert.deepStrictEqual(yield* accountOf(two), { balance: -279, entries: 41, sum: -279, exact: true })
    }))

  it.effect("goes back with the transaction that it belongs to", () =>
    Effect.gen(function*() {
      const vendor = yield* insertVendor()
      const { transaction } = yield* PluginDatabase
      yield* Effect.exit(transaction(Effect.andThen(post(posting(vendor, 100)), Effect.fail("no"))))
      assert.deepStrictEqual(yield* accountOf(vendor), { balance: 0, entries: 0, sum: 0, exact: true })
    }))

  it.effect("locks an account, and makes it, until the transaction ends", () =>
    Effect.gen(function*() {
      const vendor = yield* insertVendor()
      assert.strictEqual(yield* lock(vendor), 0)
      yield* post(posting(vendor, 40))
      assert.strictEqual(yield* lock(vendor), 40)
      const { transaction } = yield* PluginDatabase
      const [balance] = yield* atOnce(
        (sql) => sql`update marketplace_vendor_accounts set balance_cents = 41 where vendor_id = ${vendor}::uuid`,
        [transaction(lock(vendor))]
      )
      assert.strictEqual(balance, 41)
    }))

  it.effect("knows no vendor of another organization", () =>
    Effect.gen(function*() {
      const outsider = yield* insertVendor({ organizationId: "org_other" })
      assert.strictEqual((yield* Effect.exit(post(posting(outsider, 100))))._tag, "Failure")
      assert.strictEqual((yield* Effect.exit(lock(outsider)))._tag, "Failure")
      assert.deepStrictEqual(yield* accountOf(outsider), { balance: 0, entries: 0, sum: 0, exact: true })
    }))
})
