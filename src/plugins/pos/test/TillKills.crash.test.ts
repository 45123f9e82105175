import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomInt } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../../../../test/support/Audit.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { emulatedService, startEmulator } from "../../../../test/support/PaymentEmulator.ts"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { aProduct, aWarehouse } from "../../../../test/support/Purchase.ts"
import { placeOf, talkingTo } from "../../../../test/support/Service.ts"
import { persistently } from "../../../../test/support/ServiceCalls.ts"
import { type Answer, api, asAdmin, TestApp } from "../../../../test/support/TestApp.ts"

const program = fileURLToPath(new URL("./servePos.ts", import.meta.url))

/** A request of a device, repeated under its key until it is answered for good. */
const post = (path: string, body: object, key: string) =>
  persistently(api("POST", `/api/pos${path}`, { as: asAdmin, body, headers: { "idempotency-key": `device-1-${key}` } }))

const prepared = Effect.fnUntraced(function*(path: string, body: object) {
  const made = yield* (yield* TestApp).prepare("POST", path, { as: asAdmin, body })
  assert.strictEqual(made.status, 201, `${path} ${JSON.stringify(made.body)}`)
  return made
})

/** A till with an open shift. */
const aTill = Effect.gen(function*() {
  const terminal = yield* prepared("/api/pos/terminals", { name: "T", code: "T1", warehouseId: yield* aWarehouse() })
  const terminalId = terminal.text("data.id")
  const shift = yield* prepared("/api/pos/shifts/open", { terminalId, openingFloat: 0 })
  return { terminalId, shiftId: shift.text("data.id") }
})
type Till = Effect.Success<typeof aTill>

/** A sale of a thing for 10.00 by gift card and cash, as a device sends it; voided every fifth time. */
const sell = Effect.fnUntraced(function*(n: number, till: Till, entityId: string, code: string) {
  const started = yield* post("/transactions", till, `start-${n}`)
  const path = `/transactions/${started.text("data.id")}`
  yield* post(`${path}/items`, { entityId, quantity: 1 }, `item-${n}`)
  yield* post(`${path}/payments`, { method: "gift_card", amount: 400, reference: code }, `card-${n}`)
  if (n % 5 === 4) return yield* post(`${path}/void`, { reason: "x" }, `void-${n}`)
  yield* post(`${path}/payments`, { method: "cash", amount: 1_000, changeGiven: 400 }, `cash-${n}`)
  return yield* post(`${path}/complete`, {}, `complete-${n}`)
})

/** How far the sales have come. */
const steps = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql`select (select count(*) from pos_payments)::int4 + (select count(*) from orders)::int4
        + (select count(*) from pos_transaction_items)::int4 as n`,
      ([row]) => Number(row?.["n"] ?? 0)
    ))

/** What orders, payments, counters, the drawer, cards and stock say. */
const audit = (url: string, shiftId: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql`select (select count(*)::int from orders) as orders,
        (select count(*)::int from pos_transactions where status = 'completed') as completed,
        (select count(*)::int from pos_transactions where status = 'completed' and order_id is null) as lost,
        (select coalesce(sum(grand_total), 0)::int from orders) as money,
        (select sales_count from pos_shifts where id = ${shiftId}::uuid) as counted,
        (select sales_total::int from pos_shifts where id = ${shiftId}::uuid) as total,
        (select coalesce(sum(amount - change_given), 0)::int from pos_payments p where method = 'cash'
          and status = 'collected') as cash,
        (select coalesce(sum(amount), 0)::int from pos_payments where method = 'gift_card' and status = 'collected') as taken,
        (select (100000 - balance)::int from gift_cards) as debited,
        (select held::int from gift_cards) as held,
        (select (1000 - on_hand)::int from stock_levels) as units,
        (select count(*)::int from pos_fiscal_records where transaction_id is not null) as records,
        (select count(*)::int from collected_payments where status not in ('claimed', 'returned')) as open`,
      ([row]) => row ?? {}
    ))

it.live(
  "forty sales at a till under three kills: orders, counters, drawer, cards and stock agree",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const emulator = yield* startEmulator
      const place = yield* placeOf({ databaseUrl: url, ...emulatedService(emulator), program })
      yield* Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_000, stock: 1_000 })
        const till = yield* aTill
        const card = yield* prepared("/api/gift-cards", { amount: 100_000, currency: "USD" })
        const crowd = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 40 }, (_, n) => n),
            (n) => sell(n, till, entityId, card.text("data.code")),
            { concurrency: 8 }
          )
        )
        for (let kill = 0; kill < 3 && crowd.pollUnsafe() === undefined; kill++) {
          const next = (yield* steps(url)) + randomInt(5, 30)
          yield* eventually(
            "steps between the kills",
            Effect.map(steps(url), (now) => now >= next || crowd.pollUnsafe() !== undefined)
          )
          yield* place.strike
        }
        const answers: ReadonlyArray<Answer> = yield* Fiber.join(crowd)
        const failed = answers.filter(({ status }) => status !== 201).map(({ body, status }) => [status, body])
        assert.deepStrictEqual(failed, [])
        assert.deepStrictEqual(yield* audit(url, till.shiftId), {
          orders: 32,
          completed: 32,
          lost: 0,
          money: 32_000,
          counted: 32,
          total: 32_000,
          cash: 32 * 600,
          taken: 32 * 400,
          debited: 32 * 400,
          held: 0,
          units: 32,
          records: 32,
          open: 0
        })
      }).pipe(Effect.provide(talkingTo(place.service(), url)))
    }),
  240_000
)

it.live(
  "records are signed once by processes that die between a signature and its note",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const { environment, ...emulated } = emulatedService(yield* startEmulator)
      const directory = mkdtempSync(join(tmpdir(), "signatures-"))
      const signing = { ...environment, STOA_TEST_SIGNATURES: directory }
      const place = yield* placeOf({ databaseUrl: url, ...emulated, environment: signing, program })
      yield* Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_000, stock: 10 })
        const till = yield* aTill
        const card = yield* prepared("/api/gift-cards", { amount: 1_000, currency: "USD" })
        yield* Effect.forEach([0, 1], (n) => sell(n, till, entityId, card.text("data.code")))
        for (let record = 1; record <= 2; record++) {
          const { ended } = place.service()
          yield* Effect.promise(() => ended)
          assert.lengthOf(readdirSync(directory), record)
          yield* place.replace
        }
      }).pipe(Effect.provide(talkingTo(place.service(), url)))
      const signatures = onDatabase(url, (sql) => sql`select signature from pos_fiscal_records where state = 'signed'`)
      yield* eventually(
        "both signatures",
        Effect.map(signatures, (rows) => rows.length === 2)
      )
      const made = readdirSync(directory).map((file) => readFileSync(join(directory, file), "utf8"))
      assert.sameMembers<unknown>((yield* signatures).map(({ signature }) => signature), made)
    }),
  300_000
)
