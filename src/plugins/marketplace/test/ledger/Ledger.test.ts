import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { ledgerEntries } from "../../ledger/Ledger.ts"
import { lockAccount, post } from "../../ledger/LedgerRepo.ts"
import { accountOf } from "../Books.ts"
import { aVendor } from "../Goods.ts"
import { market, onTables } from "../Market.ts"
import { whileHeld } from "../payouts/PayoutEmulator.ts"
import { adjusted, postAll } from "../Sales.ts"

const locked = (vendorId: string) =>
  onTables((db) => db.transaction(db.use(lockAccount)({ vendorId, currency: "USD" })))

market()("the ledger", (test) => {
  test("numbers entries and carries the balance, in the order of the postings, and leaves out nothings", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor()]
    const first = [
      adjusted(two, 1000),
      adjusted(one, 500),
      adjusted(one, 0),
      adjusted(two, -100),
      adjusted(one, 70, "EUR")
    ]
    for (const postings of [first, [adjusted(two, 50)], [adjusted(two, 0)]]) yield* postAll(postings)
    const made = (vendorId: string, currency = "USD") =>
      onTables((db) =>
        Effect.map(
          db.table(ledgerEntries).list({ vendorId, currency }, { order: ["entryNumber"] }),
          (rows) => rows.map((row) => [row.amountCents, row.entryNumber, row.runningBalanceCents])
        )
      )
    assert.deepStrictEqual(yield* made(one), [[500, 1, 500]])
    assert.deepStrictEqual(yield* made(one, "EUR"), [[70, 1, 70]])
    assert.deepStrictEqual(yield* made(two), [[1000, 1, 1000], [-100, 2, 900], [50, 3, 950]])
    assert.deepStrictEqual(yield* accountOf(two), { balance: 950, entries: 3, exact: true })
    assert.deepStrictEqual(yield* accountOf(one, "EUR"), { balance: 70, entries: 1, exact: true })
  })

  test("stays exact when eight post to two accounts at the same moment, each the other way round", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor()]
    const both = [adjusted(one, 100), adjusted(two, -7)]
    yield* postAll(both)
    const posts = Array.from({ length: 8 }, (_, n) => postAll(n % 2 === 0 ? both : both.toReversed()))
    // Those that are let go in the wrong order may be lucky once.
    for (const vendorId of [one, two, one, two]) yield* whileHeld("accounts", vendorId, posts)
    assert.deepStrictEqual(yield* accountOf(one), { balance: 3300, entries: 33, exact: true })
    assert.deepStrictEqual(yield* accountOf(two), { balance: -231, entries: 33, exact: true })
  })

  test("goes back with the transaction that it belongs to", function*() {
    const vendorId = yield* aVendor()
    const failing = Effect.fail("no")
    yield* onTables((db) =>
      Effect.exit(db.transaction(Effect.andThen(db.use(post)([adjusted(vendorId, 100)]), failing)))
    )
    assert.strictEqual((yield* accountOf(vendorId)).entries, 0)
  })

  test("locks an account, and makes it, and sees what the one before it wrote", function*() {
    const vendorId = yield* aVendor()
    assert.strictEqual(yield* locked(vendorId), 0)
    yield* postAll([adjusted(vendorId, 40)])
    const change = onDatabase((sql) =>
      sql`update marketplace_vendor_accounts set balance_cents = 41 where vendor_id = ${vendorId}::uuid`
    )
    assert.strictEqual((yield* whileHeld("accounts", vendorId, [Effect.as(change, 0), locked(vendorId)])).at(-1), 41)
  })

  test("knows no vendor of another organization", function*() {
    const outsider = yield* aVendor({ within: "org_other" })
    for (const work of [Effect.as(postAll([adjusted(outsider, 100)]), 0), locked(outsider)]) {
      assert.strictEqual((yield* Effect.exit(work))._tag, "Failure")
    }
    assert.strictEqual((yield* accountOf(outsider, "USD", "org_other")).entries, 0)
  })
})
