import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import { BasketRepo } from "../../src/domain/checkout/BasketRepo.ts"
import { CheckoutRunRepo } from "../../src/domain/checkout/CheckoutRunRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { Checkouts } from "../../src/workflows/checkout/Checkouts.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin } from "../support/TestApp.ts"
import { stockOf } from "./CheckoutFixtures.ts"
import {
  aShopper,
  ask,
  assertEndsHonest,
  endOfEngine,
  gateAt,
  isVoid,
  leaseRunsOut,
  repeatingStore,
  runsOf,
  sentUntil,
  type Shopper,
  stoppedAt,
  takeOver
} from "./RepeatedRuns.ts"

const cartOf = ({ request: { cartId } }: Shopper) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      Effect.orDie(sql<{ status: string }>`select status from carts where id = ${cartId}::uuid`),
      ([cart]) => cart?.status
    ))

/** A cart whose checkout stopped with its stock reserved and whose run is gone; claimed ten minutes ago. */
const aStuckCart = Effect.fnUntraced(function*(entityId: string) {
  const sql = yield* SqlClient.SqlClient
  const shopper = yield* aShopper(entityId, "pays")
  yield* stoppedAt(shopper, "reserved")
  yield* Effect.orDie(sql`delete from checkout_runs where ${yield* runsOf(shopper)}`)
  yield* claimedAgo(shopper)
  return shopper
})

const claimedAgo = ({ request: { cartId } }: Shopper) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.orDie(sql`update carts set updated_at = now() - interval '10 minutes' where id = ${cartId}::uuid`)
  )

layer(repeatingStore, { excludeTestServices: true, timeout: "60 seconds" })("a run of a checkout", (it) => {
  it.effect("that began after a repeat looked for it is not repeated as a success before its capture", () =>
    Effect.gen(function*() {
      const shopper = yield* aShopper(yield* aProduct(), "broke")
      const first = yield* stoppedAt(shopper, "created")
      const runs = yield* CheckoutRunRepo
      let looks = 0
      const late = yield* Checkouts.make.pipe(Effect.provideService(CheckoutRunRepo, {
        ...runs,
        isOpen: (id) => ++looks === 1 ? Effect.succeed(false) : runs.isOpen(id)
      }))
      const answer = yield* Effect.provideService(ask(shopper, `${shopper.name}-late`), Checkouts, late)
      assert.deepStrictEqual([looks, answer._tag], [2, "later"])
      yield* assertEndsHonest("broke", shopper, [yield* first.wake])
    }))

  it.effect("that wakes up after another one found its order cancelled does not tell its success", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const shopper = yield* aShopper(yield* aProduct(), "asks")
      const first = yield* stoppedAt(shopper, "created")
      const [order] = yield* Effect.orDie(
        sql<{ id: string }>`select id from orders where cart_id = ${shopper.request.cartId}::uuid`
      )
      const cancelled = yield* api("PATCH", `/api/orders/${order?.id}/status`, {
        as: asAdmin,
        body: { status: "cancelled" }
      })
      assert.strictEqual(cancelled.status, 200)
      const payload = yield* takeOver(shopper)
      yield* endOfEngine(payload ?? assert.fail("nothing to take over"))
      assert.strictEqual((yield* first.wake)._tag, "refused")
    }))

  for (const card of ["pays", "broke"] as const) {
    it.effect(`whose record is gone is finished by who asks again, with a card that ${card}`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const shopper = yield* aShopper(yield* aProduct(), card)
        yield* stoppedAt(shopper, "created")
        yield* Effect.orDie(sql`delete from checkout_runs where ${yield* runsOf(shopper)}`)
        yield* leaseRunsOut(shopper)
        yield* assertEndsHonest(card, shopper, [yield* ask(shopper, `${shopper.name}-again`)])
      }))
  }

  it.effect("that the engine refused is not begun again by a repeat whose lease ran out", () =>
    Effect.gen(function*() {
      const shopper = yield* aShopper(yield* aProduct(), "declined")
      yield* stoppedAt(shopper, "reserved")
      const payload = yield* takeOver(shopper)
      yield* endOfEngine(payload ?? assert.fail("nothing to take over"))
      yield* leaseRunsOut(shopper)
      const message = "The payment was refused. Refused."
      assert.deepStrictEqual(yield* ask(shopper, `${shopper.name}-again`), { _tag: "refused", message })
    }))

  it.effect("that died with the cart of a refused checkout leaves it to its shopper", () =>
    Effect.gen(function*() {
      const shopper = yield* aShopper(yield* aProduct(), "declined")
      yield* stoppedAt(shopper, "reserved")
      const engine = yield* gateAt(shopper.name, "engine", "failed")
      const payload = yield* takeOver(shopper)
      yield* Deferred.await(engine.reached)
      // The engine has released the cart and not yet stored that it refused the checkout.
      const repeat = yield* gateAt(`${shopper.name}-again`, "process", "claimed")
      yield* sentUntil(repeat, ask(shopper, `${shopper.name}-again`))
      assert.strictEqual(yield* cartOf(shopper), "checking_out")
      yield* Deferred.succeed(engine.opened, undefined)
      yield* endOfEngine(payload ?? assert.fail("nothing to take over"))
      yield* assertEndsHonest("declined", shopper, [])
    }))

  it.effect("that lost its cart is undone by the one that takes over", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entityId = yield* aProduct()
      const shopper = yield* aShopper(entityId, "pays")
      yield* stoppedAt(shopper, "authorized")
      yield* Effect.orDie(sql`update carts set status = 'active', checkout_id = null, expires_at = now()
        where id = ${shopper.request.cartId}::uuid`)
      const payload = yield* takeOver(shopper)
      yield* endOfEngine(payload ?? assert.fail("nothing to take over"))
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 100, reserved: 0 })
      yield* eventually("the payment to be void", Effect.sync(() => isVoid(shopper.name)))
    }))
})

layer(repeatingStore, { excludeTestServices: true, timeout: "60 seconds" })("the release of stuck carts", (it) => {
  it.effect("gives a cart whose checkout has no run back to its shopper, with its stock", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const shopper = yield* aStuckCart(entityId)
      assert.strictEqual(yield* (yield* Checkouts).releaseStuck, 1)
      assert.strictEqual(yield* cartOf(shopper), "active")
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 100, reserved: 0 })
      assert.strictEqual(yield* (yield* Checkouts).releaseStuck, 0)
    }))

  it.effect("leaves a cart alone that has a run, or was claimed just now", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entityId = yield* aProduct()
      const [running, recent] = [yield* aShopper(entityId, "pays"), yield* aShopper(entityId, "pays")]
      yield* stoppedAt(running, "reserved")
      yield* claimedAgo(running)
      yield* stoppedAt(recent, "reserved")
      yield* Effect.orDie(sql`delete from checkout_runs where ${yield* runsOf(recent)}`)
      assert.strictEqual(yield* (yield* Checkouts).releaseStuck, 0)
      assert.deepStrictEqual([yield* cartOf(running), yield* cartOf(recent)], ["checking_out", "checking_out"])
    }))

  it.effect("does not take a cart from a checkout that claims it at the same moment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const baskets = yield* BasketRepo
      const entityId = yield* aProduct()
      const shopper = yield* aStuckCart(entityId)
      const { cartId } = shopper.request
      const [stuck] = (yield* baskets.stuck(100)).filter(({ id }) => id === cartId)
      const cart = Option.getOrThrow(Option.fromUndefinedOr(stuck))
      const release = Effect.provideService(baskets.releaseStuck(cart), CurrentActor, systemActor("org_default"))
      // Its statements are not part of the transaction below.
      const start = Effect.runForkWith(yield* Effect.context<never>())
      // The release waits for the row, which another checkout has claimed when it gets it.
      const released = yield* Effect.orDie(sql.withTransaction(Effect.gen(function*() {
        const claim = newId()
        yield* sql`update carts set checkout_id = ${claim}::uuid, version = version + 1 where id = ${cartId}::uuid`
        yield* sql`insert into checkout_runs (id, organization_id, owner, process, payload)
          values (${claim}::uuid, 'org_default', ${newId()}::uuid, 1, '{}')`
        const waiting = start(release)
        const blocked = sql`select 1 from pg_locks l join pg_stat_activity a using (pid)
          where not l.granted and a.query like 'update carts c%'`
        yield* eventually("the release to wait", Effect.orDie(Effect.map(blocked, ({ length }) => length > 0)))
        return waiting
      })))
      assert.isFalse(yield* Fiber.join(released))
      assert.strictEqual(yield* cartOf(shopper), "checking_out")
      yield* Effect.orDie(sql`delete from checkout_runs where payload = '{}'`)
    }))
})
