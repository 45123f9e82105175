import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import {
  balanceColumns,
  type CurrentActor,
  definePlugin,
  ledger,
  newId,
  PluginContext,
  type PluginDatabase,
  table,
  text
} from "stoa/plugin"
import { waiting } from "../support/AtOnce.ts"
import { inDefault, pluginTables, statementsOf, within } from "./PluginTablesLayer.ts"

const points = ledger("purse", { account: table("purses", { ...balanceColumns, owner: text }), floor: 0 })
const plugin = definePlugin({ id: "purses", version: "1.0.0", schema: () => points.tables })
const tables = layer(pluginTables(plugin), { excludeTestServices: true, timeout: "60 seconds" })

const soon = () => new Date(Date.now() + 60_000)
const eight = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.replicateEffect(Effect.exit(work), 8, { concurrency: "unbounded" })

/** A purse with so many points, and short forms of what is done with it. */
const aPurse = Effect.fnUntraced(function*(amount: number) {
  const { db } = yield* PluginContext
  const { id } = yield* db.table(points.account).insert({ owner: "Ann" })
  const post = (amount: number, reference: string = newId()) =>
    db.use(points).post({ accountId: id, type: "test", amount, reference })
  if (amount !== 0) yield* post(amount)
  const hold = (amount: number, reference: string = newId(), expiresAt = soon()) =>
    db.use(points).hold({ accountId: id, amount, reference, expiresAt })
  const capture = (hold: string, amount: number) => db.use(points).capture(hold, { type: "spend", amount })
  return { db, id, post, hold, capture, balance: db.use(points).balance(id) }
})

/** Does it twice: the second one waits for the first one's lock with an older snapshot. */
const both = Effect.fnUntraced(function*<A, E, R>(db: PluginDatabase, work: Effect.Effect<A, E, R>) {
  const [written, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const slow = Effect.tap(work, Effect.andThen(Deferred.succeed(written, undefined), Deferred.await(free)))
  const first = yield* Effect.forkChild(db.transaction(slow))
  yield* Deferred.await(written)
  const second = yield* Effect.forkChild(work)
  yield* waiting(1)
  yield* Deferred.succeed(free, undefined)
  return [yield* Fiber.join(first), yield* Fiber.join(second)] as const
})

tables("a ledger", (it) => {
  it.effect("writes an entry of a reference once, also when eight write it at once or within a transaction", () =>
    Effect.gen(function*() {
      const { balance, db, hold, id, post } = yield* aPurse(0)
      const all = yield* eight(post(10, "gift"))
      assert.deepStrictEqual(new Set(all.map((exit) => exit._tag)), new Set(["Success"]))
      assert.deepStrictEqual(yield* db.transaction(post(10, "gift")), yield* post(10, "gift"))
      assert.deepStrictEqual(yield* balance, { balance: 10, available: 10 })
      const [first, second] = yield* both(db, post(5, "slow"))
      assert.deepStrictEqual(second, first)
      const [held, again] = yield* both(db, hold(5, "slow"))
      assert.deepStrictEqual(again, held)
      yield* db.use(points).release(held.id)
      yield* post(-5)
      assert.strictEqual((yield* Effect.flip(post(11, "gift")))._tag, "Conflict/ReferenceTaken")
      assert.strictEqual(yield* statementsOf(post(1)), 1)
      const logged = yield* db.sql`select payload->>'amount' as amount from outbox_events
        where type = 'purses/purse_entries.create' and payload->>'accountId' = ${id} order by created_at`
      assert.deepStrictEqual(logged.map(({ amount }) => amount), ["10", "5", "-5", "1"])
    }).pipe(inDefault))

  it.effect("never falls below its floor, and says what is left", () =>
    Effect.gen(function*() {
      const { balance, db, hold, id, post } = yield* aPurse(10)
      const spent = yield* eight(Effect.suspend(() => post(-3)))
      assert.strictEqual(spent.filter((exit) => exit._tag === "Success").length, 3)
      const refused = yield* Effect.flip(post(-2))
      assert.strictEqual(refused._tag, "ValidationFailed/BalanceTooLow")
      assert.include(JSON.stringify(refused), "more than the 1 ")
      assert.strictEqual((yield* Effect.flip(hold(2)))._tag, "ValidationFailed/BalanceTooLow")
      yield* hold(1)
      assert.strictEqual((yield* Effect.flip(post(-1)))._tag, "ValidationFailed/BalanceTooLow")
      assert.deepStrictEqual(yield* balance, { balance: 1, available: 0 })
      const past = db.sql`update purses set held = 2 where id = ${id}::uuid`
      assert.include(JSON.stringify(yield* Effect.flip(past)), "purses_floor")
    }).pipe(inDefault))

  it.effect("posts to many accounts in one statement, or to none", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* aPurse(5), yield* aPurse(5)]
      const all = (amount: number) =>
        one.db.use(points).postAll(
          [one, other].map(({ id }, n) => ({
            accountId: id,
            type: "fee",
            amount: -amount - n,
            reference: `fee ${amount}`
          }))
        )
      assert.strictEqual((yield* Effect.flip(all(5)))._tag, "ValidationFailed/BalanceTooLow")
      assert.deepStrictEqual([yield* one.balance, yield* other.balance].map(({ balance }) => balance), [5, 5])
      assert.strictEqual(yield* statementsOf(all(1)), 1)
      assert.deepStrictEqual([yield* one.balance, yield* other.balance].map(({ balance }) => balance), [4, 3])
    }).pipe(inDefault))

  it.effect("repeats what has taken the balance while it waited", () =>
    Effect.gen(function*() {
      const { balance, db, hold, post } = yield* aPurse(20)
      const [first, second] = yield* both(db, post(-12, "spent"))
      assert.deepStrictEqual(second, first)
      const [held, again] = yield* both(db, hold(5, "held"))
      assert.deepStrictEqual(again, held)
      assert.deepStrictEqual(yield* balance, { balance: 8, available: 3 })
    }).pipe(inDefault))

  it.effect("takes whole amounts only, and none below 1 where something is set aside or given back", () =>
    Effect.gen(function*() {
      const { balance, capture, db, hold, id, post } = yield* aPurse(10)
      const held = yield* hold(5)
      const refund = (amount: number, reference: string) =>
        db.use(points).refund(held.id, { type: "refund", reference, amount })
      yield* capture(held.id, 5)
      yield* refund(3, "three")
      const other = yield* hold(1)
      const wrong = [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]
      for (const amount of wrong) {
        assert.strictEqual((yield* Effect.flip(post(amount)))._tag, "ValidationFailed/NotAnAmount")
      }
      for (const amount of [...wrong, 0, -1]) {
        assert.strictEqual((yield* Effect.flip(hold(amount)))._tag, "ValidationFailed/NotAnAmount")
        assert.strictEqual((yield* Effect.flip(capture(other.id, amount)))._tag, "ValidationFailed/NotAnAmount")
      }
      // After a refund of three, one of minus two would pass the conditions of the hold.
      assert.strictEqual((yield* Effect.flip(refund(-2, "minus")))._tag, "ValidationFailed/NotAnAmount")
      assert.deepStrictEqual(yield* balance, { balance: 8, available: 7 })
      const twice = [{ accountId: id, type: "a", amount: 1, reference: "a" }, {
        accountId: id.toUpperCase(),
        type: "b",
        amount: 1,
        reference: "b"
      }]
      assert.strictEqual((yield* Effect.flip(db.use(points).postAll(twice)))._tag, "ValidationFailed/AccountNamedTwice")
      assert.strictEqual((yield* balance).balance, 8)
    }).pipe(inDefault))

  it.effect("posts nothing to the others when a reference has another amount on one account", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* aPurse(5), yield* aPurse(5)]
      yield* one.post(1, "fee")
      const postings = [other, one].map(({ id }) => ({ accountId: id, type: "test", amount: 2, reference: "fee" }))
      assert.strictEqual((yield* Effect.flip(one.db.use(points).postAll(postings)))._tag, "Conflict/ReferenceTaken")
      assert.deepStrictEqual([(yield* one.balance).balance, (yield* other.balance).balance], [6, 5])
    }).pipe(inDefault))

  it.effect("knows a refund by its account, reference and amount", () =>
    Effect.gen(function*() {
      const [{ balance, capture, db, hold }, other] = [yield* aPurse(10), yield* aPurse(0)]
      yield* other.post(7, "order-1")
      const { id } = yield* hold(10)
      yield* capture(id, 10)
      const refund = (amount: number) => db.use(points).refund(id, { type: "refund", reference: "order-1", amount })
      assert.deepInclude(yield* refund(4), { amount: 4, type: "refund" })
      assert.strictEqual((yield* Effect.flip(refund(5)))._tag, "Conflict/ReferenceTaken")
      assert.deepStrictEqual([(yield* balance).balance, (yield* other.balance).balance], [4, 7])
    }).pipe(inDefault))

  it.effect("holds, captures a part once and frees the rest", () =>
    Effect.gen(function*() {
      const { balance, capture, db, hold } = yield* aPurse(10)
      const [held] = yield* Effect.all([hold(8, "cart"), hold(8, "cart")], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* balance, { balance: 10, available: 2 })
      assert.strictEqual((yield* Effect.flip(hold(7, "cart")))._tag, "Conflict/ReferenceTaken")
      assert.strictEqual((yield* Effect.flip(capture(held.id, 9)))._tag, "ValidationFailed/HoldTooLow")
      yield* eight(capture(held.id, 5))
      assert.deepStrictEqual(yield* balance, { balance: 5, available: 5 })
      assert.deepInclude(yield* db.use(points).release(held.id), { status: "captured", captured: 5 })
      assert.deepInclude(yield* hold(8, "cart"), { id: held.id, status: "captured" })
      assert.strictEqual(yield* statementsOf(hold(1)), 1)
    }).pipe(inDefault))

  it.effect("frees a hold once, which cannot be captured then", () =>
    Effect.gen(function*() {
      const { balance, capture, db, hold } = yield* aPurse(10)
      const held = yield* hold(8)
      yield* eight(db.use(points).release(held.id))
      assert.deepStrictEqual(yield* balance, { balance: 10, available: 10 })
      assert.strictEqual((yield* Effect.flip(capture(held.id, 8)))._tag, "Conflict/HoldReleased")
    }).pipe(inDefault))

  it.effect("frees holds whose time is over, and captures them later while the balance lasts", () =>
    Effect.gen(function*() {
      const { balance, capture, db, hold, post } = yield* aPurse(10)
      const [late, lost] = [yield* hold(4, "late", new Date()), yield* hold(5, "lost", new Date())]
      yield* hold(1)
      yield* Effect.all([db.use(points).releaseDue, db.use(points).releaseDue], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* balance, { balance: 10, available: 9 })
      yield* capture(late.id, 4)
      yield* post(-1)
      assert.strictEqual((yield* Effect.flip(capture(lost.id, 5)))._tag, "ValidationFailed/BalanceTooLow")
      assert.deepInclude(yield* db.use(points).release(lost.id), { status: "released" })
      assert.deepStrictEqual(yield* balance, { balance: 5, available: 4 })
    }).pipe(inDefault))

  it.effect("gives back what was captured, once for each reference and never more, to the account or to another", () =>
    Effect.gen(function*() {
      const [{ balance, capture, db, hold }, other] = [yield* aPurse(10), yield* aPurse(0)]
      const { id } = yield* hold(10)
      yield* capture(id, 8)
      const refund = (reference: string, amount?: number, accountId?: string) =>
        db.use(points).refund(id, {
          type: "refund",
          reference,
          ...(amount && { amount }),
          ...(accountId && { accountId })
        })
      yield* eight(refund("one", 3))
      const refused = yield* Effect.flip(refund("two", 6))
      assert.strictEqual(refused._tag, "ValidationFailed/HoldTooLow")
      yield* refund("rest", undefined, other.id)
      assert.isNull(yield* refund("again"))
      assert.deepStrictEqual([(yield* balance).balance, (yield* other.balance).balance], [5, 5])
    }).pipe(inDefault))

  it.effect("keeps to its organization", () =>
    Effect.gen(function*() {
      const { balance, capture, db, hold, post } = yield* aPurse(10)
      const held = yield* hold(5)
      const elsewhere = within("org_other")
      const refund = db.use(points).refund(held.id, { type: "refund", reference: "r" })
      const tagOf = <A, E extends { readonly _tag: string }>(work: Effect.Effect<A, E, CurrentActor>) =>
        Effect.map(Effect.flip(elsewhere(work)), ({ _tag }) => _tag)
      assert.deepStrictEqual(
        [
          yield* tagOf(post(1)),
          yield* tagOf(hold(1)),
          yield* tagOf(capture(held.id, 1)),
          yield* tagOf(db.use(points).release(held.id)),
          yield* tagOf(refund),
          yield* tagOf(balance)
        ],
        Array(6).fill("NotFound/Row")
      )
    }).pipe(inDefault))
})
