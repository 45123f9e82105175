import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, addTo, aGuestCart, aProduct, aWarehouse, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, type Call, type TestApp, withApp } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** A request under a key, and what it changes, to see how often it did. */
interface IdempotentCall {
  readonly send: Effect.Effect<Answer, never, TestApp>
  readonly effect: Effect.Effect<unknown, never, TestApp>
}

const idempotent = (method: string, path: string, call: Call, effect: IdempotentCall["effect"]): IdempotentCall => {
  const headers = { ...call.headers, "idempotency-key": randomUUID() }
  return { send: api(method, path, { ...call, headers }), effect }
}

const linesOf = ({ headers, id }: GuestCart) =>
  Effect.map(api("GET", `/api/carts/${id}`, { headers }), (cart) => cart.at("data.lineItems"))

const anAddition = Effect.fnUntraced(function*() {
  const cart = yield* aGuestCart()
  const body = { entityId: yield* aProduct(), quantity: 2 }
  return { cart, ...idempotent("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body }, linesOf(cart)) }
})

const aLine = Effect.fnUntraced(function*() {
  const cart = yield* aGuestCart()
  const line = yield* addTo(cart, yield* aProduct(), 2)
  return { cart, path: `/api/carts/${cart.id}/items/${line.text("data.id")}`, headers: cart.headers }
})

const stock = (entityId: string, path: string, body: object) =>
  idempotent("POST", `/api/inventory/${path}`, { as: asAdmin, body: { entityId, ...body } }, stockOf(entityId))

/** Every kind of request whose change writes an idempotency record. */
const recordedKinds: Readonly<Record<string, () => Effect.Effect<IdempotentCall, never, TestApp>>> = {
  "add an item": anAddition,
  "change an item": Effect.fnUntraced(function*() {
    const { cart, headers, path } = yield* aLine()
    return idempotent("PATCH", path, { headers, body: { quantity: 5 } }, linesOf(cart))
  }),
  "remove an item": Effect.fnUntraced(function*() {
    const { cart, headers, path } = yield* aLine()
    return idempotent("DELETE", path, { headers }, linesOf(cart))
  }),
  "adjust stock": Effect.fnUntraced(function*() {
    return stock(yield* aProduct(), "adjust", { warehouseId: yield* aWarehouse(), type: "restock", quantity: 3 })
  }),
  "reserve stock": Effect.fnUntraced(function*() {
    return stock(yield* aProduct(), "reserve", { orderId: randomUUID(), quantity: 3 })
  }),
  "release stock": Effect.fnUntraced(function*() {
    const [entityId, orderId] = [yield* aProduct(), randomUUID()]
    yield* stock(entityId, "reserve", { orderId, quantity: 5 }).send
    return stock(entityId, "release", { orderId, quantity: 2 })
  }),
  "cancel an order": Effect.fnUntraced(function*() {
    const path = `/api/orders/${(yield* checkOut(yield* aCartWith(yield* aProduct()))).text("data.id")}`
    const call = { as: asAdmin, body: { status: "cancelled" } }
    const refunds = onDatabase((sql) => sql`select status from refunds where order_id = ${path.slice(12)}::uuid`)
    return idempotent("PATCH", `${path}/status`, call, refunds)
  })
}

/** Sends a request while each of these statements ends its connection. */
const losingConnections = <A, E, R>(
  moments: ReadonlyArray<readonly [table: string, when: string]>,
  send: Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    yield* onDatabase((sql) =>
      sql`create or replace function lose_connection() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); return new; end'`
    )
    for (const [table, when] of moments) {
      yield* onDatabase((sql) =>
        sql.unsafe(`create trigger lost ${when} on ${table} for each row execute function lose_connection()`)
      )
    }
    const answer = yield* send
    for (const [table] of moments) yield* onDatabase((sql) => sql.unsafe(`drop trigger lost on ${table}`))
    return answer
  })

/** What a process leaves that died after the change was made and before the answer was stored. */
const loseAnswers = onDatabase((sql) =>
  sql`update idempotency_keys set status = 'running', response_status = null, encrypted_response = null,
    locked_until = now() - interval '1 second' where status = 'done'`
)

const carriedOut = (answer: Answer) => {
  refused(answer, 409, "CONFLICT")
  assert.match(answer.text("error.message"), /was carried out/)
  assert.isNull(answer.headers.get("retry-after"), "asking again gives nothing else")
}

/** Waits until no statement that adds a line is at work: what is in the database now stays. */
const endOfAdding = Effect.gen(function*() {
  const context = yield* Effect.context<TestApp>()
  const adding = onDatabase((sql) =>
    sql`select 1 from pg_stat_activity where datname = current_database() and application_name = 'stoa'
      and state = 'active' and query like ${"%from input i join carts c on%"}`
  )
  const ended = async () => (await Effect.runPromiseWith(context)(adding)).length === 0
  yield* Effect.promise(() => waitFor("the end of the statement", ended))
})

/**
 * A request that got 503 because its cart was locked for longer than its caller waits. The caller's timeout ends the
 * actor's work, and the statement is called off a few milliseconds later: it changes nothing if that comes before the
 * lock is let go, and everything if the lock comes first. `meanwhile` runs between the answer and the lock's release.
 */
const answeredTooLate = Effect.fnUntraced(function*(meanwhile: Effect.Effect<void, never, TestApp>) {
  const request = yield* anAddition()
  const unlock = yield* Deferred.make<void>()
  const blocking = yield* lockCart(request.cart.id, unlock)
  assert.strictEqual((yield* request.send).status, 503)
  yield* meanwhile
  yield* Deferred.succeed(unlock, undefined)
  yield* Fiber.join(blocking)
  yield* endOfAdding
  return request
})

/** Locks the row of a cart until the deferred is done; gives the fiber that does it once it has the lock. */
const lockCart = Effect.fnUntraced(function*(cartId: string, unlock: Deferred.Deferred<void>) {
  const locked = yield* Deferred.make<void>()
  const blocking = yield* Effect.forkChild(onDatabase((sql) =>
    sql.withTransaction(
      sql`select 1 from carts where id = ${cartId}::uuid for update`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(unlock))
      )
    )
  ))
  yield* Deferred.await(locked)
  return blocking
})

/** For each outcome of the first try: its repetition reports it, and the change exists once. */
const comesAgain = Effect.fnUntraced(function*(request: IdempotentCall) {
  const done = JSON.stringify(yield* request.effect) !== "[]"
  const again = yield* request.send
  if (done) carriedOut(again)
  else assert.deepStrictEqual([again.status, again.at("data.quantity")], [201, 2], JSON.stringify(again.body))
  const after = yield* request.effect
  assert.match(JSON.stringify(after), /^\[\{[^{}]*"quantity":2[,}]/)
  const third = yield* request.send
  assert.deepStrictEqual([third.status, third.at("data")], [again.status, again.at("data")])
  assert.deepStrictEqual(yield* request.effect, after)
})

withApp("a request under a key whose answer was lost", (it) => {
  describe("after its change was made", () => {
    for (const [name, kind] of Object.entries(recordedKinds)) {
      it.effect(`${name}: gets 409 that says so and is not carried out again`, () =>
        Effect.gen(function*() {
          const request = yield* kind()
          const before = yield* request.effect
          assert.include([200, 201], (yield* request.send).status)
          const after = yield* request.effect
          assert.notDeepEqual(after, before)
          yield* loseAnswers
          carriedOut(yield* request.send)
          carriedOut(yield* request.send)
          assert.deepStrictEqual(yield* request.effect, after)
        }))
    }

    it.effect("is not carried out again if its outcome is unknown", () =>
      Effect.gen(function*() {
        const name = randomUUID()
        const made = onDatabase((sql) => sql`select 1 from promotions where name = ${name}`)
        const body = { name, type: "percentage_off_order", value: 1 }
        const request = idempotent(
          "POST",
          "/api/promotions",
          { as: asAdmin, body },
          Effect.map(made, (rows) => rows.length)
        )
        assert.strictEqual((yield* request.send).status, 201)
        yield* loseAnswers
        const again = yield* request.send
        refused(again, 409, "CONFLICT")
        assert.match(again.text("error.message"), /may have been carried out/)
        assert.isNull(again.headers.get("retry-after"))
        assert.strictEqual(yield* request.effect, 1)
      }))
  })

  describe("before its change was made", () => {
    it.effect("is carried out when it comes again", () =>
      Effect.gen(function*() {
        const request = yield* anAddition()
        yield* onDatabase((sql) => sql`alter table cart_lines add constraint broken check (false) not valid`)
        assert.strictEqual((yield* request.send).status, 500)
        yield* onDatabase((sql) => sql`alter table cart_lines drop constraint broken`)
        const again = yield* request.send
        assert.deepStrictEqual([again.status, again.at("data.quantity")], [201, 2], JSON.stringify(again.body))
        assert.deepStrictEqual((yield* request.send).body, again.body)
      }))
  })

  it.effect("whose actor could not get at the cart in time is carried out once, be it at first or when it comes again", () =>
    Effect.gen(function*() {
      const sent = [answeredTooLate(endOfAdding), answeredTooLate(Effect.void)] as const
      const [calledOff, raced] = yield* Effect.all(sent, { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* calledOff.effect, [])
      yield* comesAgain(calledOff)
      yield* comesAgain(raced)
    }))

  it.effect("gets 503 when it meets the change of its earlier try", () =>
    Effect.gen(function*() {
      const [request, unlock] = [yield* anAddition(), yield* Deferred.make<void>()]
      const blocking = yield* lockCart(request.cart.id, unlock)
      const sent = yield* Effect.forkChild(request.send)
      // The earlier try, which was believed lost, commits while this one waits for the cart.
      const context = yield* Effect.context<TestApp>()
      const recordOfEarlierTry = onDatabase((sql) =>
        sql`insert into idempotency_records (organization_id, execution_id)
          select organization_id, execution_id from idempotency_keys where status = 'running' and locked_until > now()
          returning 1`
      )
      yield* Effect.promise(() =>
        waitFor("the key", async () => (await Effect.runPromiseWith(context)(recordOfEarlierTry)).length === 1)
      )
      yield* Deferred.succeed(unlock, undefined)
      const answer = yield* Fiber.join(sent)
      refused(answer, 503, "SERVICE_UNAVAILABLE")
      assert.isNotNull(answer.headers.get("retry-after"))
      yield* Fiber.join(blocking)
      carriedOut(yield* request.send)
      assert.deepStrictEqual(yield* request.effect, [])
    }))

  it.effect("gets 503 when the database goes away before the doubt is recorded", () =>
    Effect.gen(function*() {
      const request = yield* anAddition()
      const answer = yield* losingConnections(
        [["cart_lines", "before insert"], ["idempotency_keys", "before update of locked_until"]],
        request.send
      )
      refused(answer, 503, "SERVICE_UNAVAILABLE")
      assert.isNotNull(answer.headers.get("retry-after"))
      assert.deepStrictEqual(yield* request.effect, [])
    }))

  it.effect("gets 503 when the database goes away before the answer is stored", () =>
    Effect.gen(function*() {
      const request = yield* anAddition()
      const answer = yield* losingConnections(
        [["idempotency_keys", "before update of response_status"]],
        request.send
      )
      refused(answer, 503, "SERVICE_UNAVAILABLE")
      assert.isNotNull(answer.headers.get("retry-after"))
      const lines = yield* request.effect
      assert.strictEqual(Array.isArray(lines) ? lines.length : 0, 1, "it was made, once")
    }))

  it.effect("or kept leaves nothing in the database that opens the cart it made", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const create = api("POST", "/api/carts", { body: { currency: "USD" }, headers: { "idempotency-key": key } })
      const made = yield* create
      const secret = made.text("data.secret")
      const stored = yield* onDatabase((sql) =>
        sql<
          { row: string; encrypted: string }
        >`select k::text as row, encrypted_response as encrypted from idempotency_keys k
          where status = 'done' and response_status = 201`
      )
      assert.isAbove(stored.length, 0)
      for (const { row, encrypted } of stored) {
        for (const known of [key, secret, made.text("data.id")]) {
          assert.notInclude(row, known)
          assert.notInclude(Buffer.from(encrypted, "base64").toString("latin1"), known)
        }
      }
      assert.deepStrictEqual((yield* create).body, made.body)
    }))
})
