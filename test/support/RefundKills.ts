import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { auditAlways, onDatabase } from "./Audit.ts"
import { eventually } from "./Eventually.ts"
import { emulatedService, type PaymentEmulator, startEmulator } from "./PaymentEmulator.ts"
import { freshDatabase } from "./Postgres.ts"
import { aCartWith, aProduct, checkOut } from "./Purchase.ts"
import { placeOf, talkingTo } from "./Service.ts"
import { persistently } from "./ServiceCalls.ts"
import { type Answer, api, asStaff, type TestApp } from "./TestApp.ts"

const units = 4
const price = 333
const stock = 100_000

/** An order whose payment is authorized, of four units in one line. */
export const anAuthorizedOrder = Effect.fnUntraced(function*(product: string) {
  const placed = yield* checkOut(yield* aCartWith(product, units), { paymentMethodId: "card" })
  assert.deepStrictEqual([placed.status, placed.at("data.amountCaptured")], [201, null], JSON.stringify(placed.body))
  return { id: placed.text("data.id"), line: placed.text("data.lineItems.0.id") }
})

type PlacedOrder = Effect.Success<ReturnType<typeof anAuthorizedOrder>>

/** Sends a request of staff with its key, and repeats it until it has an outcome, through failures of the service. */
const ask = (order: PlacedOrder, action: "capture" | "refund" | "refunds", body: object, key: string) =>
  persistently(api("POST", `/api/orders/${order.id}/${action}`, {
    as: asStaff,
    body,
    headers: { "idempotency-key": `${order.id}-${key}` }
  }))

/** The answer says that the request succeeded, or that it was carried out and its answer is lost. */
const isDone = (answer: Answer): boolean =>
  answer.status === 200 || answer.status === 201 ||
  answer.status === 409 && answer.text("error.message").includes("was carried out, but its answer is lost")

const assertDone = (answer: Answer) => assert.isTrue(isDone(answer), `${answer.status} ${JSON.stringify(answer.body)}`)

/** Until the order says so: an answer that is lost may be that of a capture which is still going on. */
const capture = Effect.fnUntraced(function*(order: PlacedOrder) {
  assertDone(yield* ask(order, "capture", {}, "capture"))
  const read = persistently(api("GET", `/api/orders/${order.id}`, { as: asStaff }))
  yield* eventually(
    `the capture of ${order.id}`,
    Effect.map(read, (now) => now.at("data.amountCaptured") !== null),
    180_000
  )
})

const toStatus = (order: PlacedOrder, status: string) =>
  api("PATCH", `/api/orders/${order.id}/status`, { as: asStaff, body: { status } })

/** Refunds an order unit by unit, each in a separate request, all of them at once. */
const giveBackUnits = (order: PlacedOrder, restock: boolean) =>
  Effect.forEach(
    Array.from({ length: units }, (_, n) => `unit-${n}`),
    (key) =>
      Effect.map(
        ask(order, "refunds", { lines: [{ lineItemId: order.line, quantity: 1, restock }] }, key),
        assertDone
      ),
    { concurrency: "unbounded", discard: true }
  )

/** Three ask for half of it at once: two get it, one is refused. */
const giveBackHalves = Effect.fnUntraced(function*(order: PlacedOrder) {
  const body = { amount: units * price / 2 }
  const answers = yield* Effect.forEach(["a", "b", "c"], (key) => ask(order, "refund", body, key), {
    concurrency: "unbounded"
  })
  assert.strictEqual(answers.filter(isDone).length, 2, JSON.stringify(answers.map((answer) => answer.body)))
})

/** What is asked of one order while processes die; its status, its refunds and the units that it holds in the end. */
interface Story {
  readonly prepare: (order: PlacedOrder) => Effect.Effect<unknown, never, TestApp>
  readonly live: (order: PlacedOrder) => Effect.Effect<unknown, never, TestApp>
  readonly status: string
  readonly refunds: number
  readonly held: number
}

const nothing = () => Effect.void
const handedOver = (order: PlacedOrder) =>
  Effect.andThen(capture(order), Effect.andThen(toStatus(order, "processing"), toStatus(order, "fulfilled")))

const stories: ReadonlyArray<Story> = [
  { prepare: nothing, live: capture, status: "confirmed", refunds: 0, held: units },
  {
    prepare: nothing,
    live: (order) => Effect.andThen(capture(order), giveBackUnits(order, false)),
    status: "confirmed",
    refunds: units,
    held: 0
  },
  { prepare: capture, live: (order) => giveBackUnits(order, false), status: "confirmed", refunds: units, held: 0 },
  { prepare: capture, live: giveBackHalves, status: "confirmed", refunds: 2, held: units },
  { prepare: handedOver, live: (order) => giveBackUnits(order, true), status: "refunded", refunds: units, held: 0 }
]

interface BookRow {
  readonly id: string
  readonly status: string
  readonly captured: number
  readonly refunded: number
  readonly refunds: ReadonlyArray<{ readonly key: string; readonly amount: number }>
}

const books = (url: string) =>
  onDatabase(
    url,
    (sql) =>
      sql<BookRow>`select o.id::text as id, o.status, coalesce(o.amount_captured, 0)::float8 as captured,
        o.refunded_total::float8 as refunded, coalesce((select jsonb_agg(jsonb_build_object('key', r.id::text,
          'amount', r.amount) order by r.id) from refunds r where r.order_id = o.id and r.status = 'completed'), '[]')
          as refunds
      from orders o order by o.id`
  )

/** Money that is still on its way, in either direction, and orders that have yet to hear of it. */
const underWay = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ open: number }>`select (select count(*) from refunds where status = 'pending')::int4
        + (select count(*) from orders where capture_amount is not null
            and (amount_captured is null or status = 'pending'))::int4
        + (select count(*) from orders where status = 'fulfilled' and refunded_total = amount_captured)::int4 as open`,
      ([row]) => row?.open ?? -1
    ))

/** Asserts that the service recorded what the provider did, to the unit and to the refund, without any repair by staff. */
export const auditMoney = Effect.fnUntraced(function*(url: string, emulator: PaymentEmulator, wait = 60_000) {
  yield* eventually("the money to have arrived", Effect.map(underWay(url), (open) => open === 0), wait)
  const written = yield* books(url)
  const payments = new Map(emulator.payments().map((payment) => [payment.key, payment]))
  for (const { captured, id, refunded, refunds } of written) {
    const payment = payments.get(id)
    assert.deepStrictEqual([captured, refunded], [payment?.captured, payment?.refunded], id)
    assert.isAtMost(refunded, captured)
    const given = emulator.refunds().filter((refund) => refund.payment === id).map(({ amount, key }) => ({
      key,
      amount
    }))
    assert.deepStrictEqual(given.sort((a, b) => a.key < b.key ? -1 : 1), [...refunds])
  }
  assert.strictEqual(payments.size, written.length)
  assert.deepStrictEqual(yield* onDatabase(url, (sql) => sql`select message from compensation_failures`), [])
  yield* auditAlways(url)
  return written
})

/** A minute has passed for everything that waits for its turn, and eight seconds for the keys of who died. */
export const aMinuteLater = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.all([
      sql`update refunds set next_attempt_at = now() where status = 'pending'`,
      sql`update orders set capture_due_at = now() where capture_due_at is not null`,
      sql`update idempotency_keys set locked_until = now() where status = 'running'`
    ], { discard: true }))

/** The only process of a deployment that captures by hand, and the provider, which takes a moment to answer. */
export const moneyPlace = Effect.fnUntraced(function*(onDeath: (url: string) => Effect.Effect<void>) {
  const { url } = yield* freshDatabase
  const emulator = yield* startEmulator
  const place = yield* placeOf({ databaseUrl: url, ...emulatedService(emulator, "manual") }, () => onDeath(url))
  return { url, emulator, place, app: talkingTo(place.service(), url) }
})

/**
 * Captures, refunds and returns of so many orders of each kind, while their process is killed so many times, each time a
 * random number of calls to the provider after the one before; then the books of both sides. Gives how many refunds there were.
 */
export const moneyUnderKills = Effect.fnUntraced(
  function*(rounds: number, kills: number, onDeath: (url: string) => Effect.Effect<void>, wait?: number) {
    const { app, emulator, place, url } = yield* moneyPlace(onDeath)
    return yield* Effect.gen(function*() {
      const product = yield* aProduct({ price, stock })
      const chosen = Array.from({ length: rounds }, () => stories).flat()
      const orders = yield* Effect.forEach(chosen, (story) =>
        Effect.gen(function*() {
          const order = yield* anAuthorizedOrder(product)
          yield* story.prepare(order)
          return { ...story, order }
        }), { concurrency: 4 })
      emulator.behave({ late: 20 })
      let recorded = 0
      const clerks = yield* Effect.forkChild(
        Effect.forEach(orders, ({ live, order }) => Effect.tap(live(order), () => Effect.sync(() => recorded++)), {
          concurrency: 5,
          discard: true
        })
      )
      for (let kill = 0; kill < kills && clerks.pollUnsafe() === undefined; kill++) {
        const calls = emulator.calls().length + 1 + Math.floor(Math.random() * 6)
        const reached = Effect.sync(() => emulator.calls().length >= calls || clerks.pollUnsafe() !== undefined)
        yield* eventually("calls between the kills", reached, 90_000)
        yield* place.strike
      }
      yield* Fiber.join(clerks)
      const written = new Map((yield* auditMoney(url, emulator, wait)).map((row) => [row.id, row]))
      for (const { order, refunds, status } of orders) {
        const row = written.get(order.id)
        assert.deepStrictEqual([row?.status, row?.captured, row?.refunds.length], [status, units * price, refunds])
        if (refunds > 0) assert.strictEqual(row?.refunded, units * price)
      }
      const held = orders.reduce((sum, story) => sum + story.held, 0)
      const levels = yield* onDatabase(url, (sql) => sql`select on_hand, reserved from stock_levels`)
      assert.deepStrictEqual(levels, [{ on_hand: stock, reserved: held }], "all that came back is on the shelf")
      return { orders: recorded, refunds: emulator.refunds().length }
    }).pipe(Effect.provide(app))
  }
)
