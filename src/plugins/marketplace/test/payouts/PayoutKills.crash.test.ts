import { assert, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { freshDatabase } from "../../../../../test/support/Postgres.ts"
import { placeOf, talkingTo } from "../../../../../test/support/Service.ts"
import { persistently } from "../../../../../test/support/ServiceCalls.ts"
import { asAdmin, type TestApp } from "../../../../../test/support/TestApp.ts"
import { newId } from "../../../../domain/platform/ids/Id.ts"
import { accountOf } from "../Books.ts"
import { send } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { sold } from "../Sales.ts"
import { killPointsOf } from "./KillPoints.ts"
import { openBank } from "./PayoutBank.ts"
import { aMinuteLater } from "./PayoutEmulator.ts"

const program = fileURLToPath(new URL("./servePayouts.ts", import.meta.url))

/** Most steps that one run can have; the walk over them ends by itself long before. */
const most = 20

/** The task that asks for payouts on their way, as the scheduler would enqueue it; the process does it by itself. */
const settle = Effect.andThen(
  aMinuteLater,
  onDatabase((sql) =>
    sql`with made as (insert into commerce_jobs (id, organization_id, queue, task_slug, input, max_attempts)
      values (${newId()}::uuid, 'org_default', 'default', 'marketplace/settle-payouts', '{}', 1) returning queue)
      select pg_notify('stoa_jobs', queue) from made`
  )
)

/** Jobs that settle payouts and have not ended: their statements would be taken for steps of the next run. */
const openSettling = onDatabase((sql) =>
  sql`select 1 from commerce_jobs
    where task_slug = 'marketplace/settle-payouts' and status in ('pending', 'processing')`
)

const runOnce = send(asAdmin, "POST /payouts/run", {})

const openPayouts = onDatabase((sql) => sql`select 1 from marketplace_vendor_payouts where status <> 'completed'`)

/** Lets no schedule come due: the statements of its task would be taken for steps of a run. */
const withoutSchedules = onDatabase((sql) =>
  Effect.andThen(
    sql`create function no_tick() returns trigger language plpgsql as 'begin return null; end'`,
    sql`create trigger no_tick before insert on scheduler_ticks for each row execute function no_tick()`
  )
)

/** A deployment of one process that dies again and again, each time another one takes its place. */
const mortal = Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const line = yield* killPointsOf(url)
  const bank = yield* openBank
  const place = yield* placeOf({ databaseUrl: line.url, program, environment: { STOA_TEST_BANK: bank.url } })
  /** Runs payouts while something waits to kill the process; true when it came to that. */
  const runUnder = Effect.fnUntraced(function*(lie: (kill: () => void) => void) {
    let struck = false
    lie(() => {
      struck = true
      place.service().kill("SIGKILL")
    })
    yield* Effect.provide(runOnce, talkingTo(place.service(), url))
    const reached = struck
    line.disarm()
    if (reached) yield* place.replace
    return reached
  })
  const inShop = <A>(work: Effect.Effect<A, never, TestApp | Scope.Scope>) =>
    Effect.suspend(() => Effect.provide(work, talkingTo(place.service(), url)))
  yield* inShop(withoutSchedules)
  return { bank, inShop, line, runUnder }
})

const aSeller = Effect.tap(aVendor(), (vendorId) => sold(vendorId))

/** Settles everything that is open; repeated requests with the same keys pay no vendor twice. */
const settled = Effect.gen(function*() {
  yield* persistently(runOnce)
  yield* settle
  yield* eventually("all payouts to be completed", Effect.map(openPayouts, ({ length }) => length === 0))
  yield* eventually("nothing to settle them any more", Effect.map(openSettling, ({ length }) => length === 0))
})

it.live(
  "a payout run whose process dies between any two of its steps pays everybody once",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { bank, inShop, line, runUnder } = yield* mortal
      const assertPaid = Effect.fnUntraced(function*(vendorId: string, about: string) {
        yield* inShop(settled)
        assert.strictEqual(bank.paid(vendorId), 9_000, about)
        assert.deepInclude(yield* inShop(accountOf(vendorId)), { balance: 0, exact: true, entries: 3 })
      })
      let deaths = 0
      for (let step = 1; step <= most; step++) {
        const vendorId = yield* inShop(aSeller)
        const died = yield* runUnder((kill) => line.arm(step, kill))
        yield* assertPaid(vendorId, `death at step ${step}`)
        if (!died) break
        deaths++
      }
      // The look for accounts, the payout, the claim of its transfer, and what became of it.
      assert.strictEqual(deaths, 4)

      for (const when of ["before", "after"] as const) {
        const vendorId = yield* inShop(aSeller)
        assert.isTrue(yield* runUnder((kill) => bank.interrupt(when, kill)))
        yield* assertPaid(vendorId, `death ${when} the money moves`)
        // Asked for twice, it is the key that makes that harmless.
        assert.lengthOf(bank.callsOf(vendorId), when === "before" ? 1 : 2)
      }
    })),
  240_000
)
