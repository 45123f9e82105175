import { assert } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onDatabase } from "./Audit.ts"
import { eventually } from "./Eventually.ts"
import { freePort } from "./FreePort.ts"
import { freshDatabase } from "./Postgres.ts"
import { aCartWith, addTo, aProduct, checkOut } from "./Purchase.ts"
import { placeOf, startService, talkingTo } from "./Service.ts"
import { persistently } from "./ServiceCalls.ts"
import { api, asAdmin } from "./TestApp.ts"
import { waitFor } from "./waitFor.ts"

/** Environment of processes that may deliver to this machine. */
const delivering = { STOA_WEBHOOKS_ALLOW_PRIVATE: "true" }

/** Registers the receiver for all events of the store. */
const subscribe = Effect.fnUntraced(function*({ secret, url }: ReceiverProcess) {
  const made = yield* api("POST", "/api/webhooks", { as: asAdmin, body: { url, events: ["*"], secret } })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
})

/**
 * What happens in a store: a product that is changed `changes` times while a cart is filled as often, and then bought.
 * About `2 × changes + 8` events of some five records.
 */
const trade = Effect.fnUntraced(function*(n: number, changes: number) {
  const product = yield* aProduct({ slug: `traded-${n}`, stock: 1_000 })
  const cart = yield* aCartWith(product)
  for (let change = 1; change <= changes; change++) {
    const body = { metadata: { change } }
    const changed = yield* persistently(api("PATCH", `/api/catalog/entities/${product}`, { as: asAdmin, body }))
    const added = yield* persistently(addTo(cart, product))
    assert.deepStrictEqual([changed.status, added.status], [200, 201])
  }
  assert.strictEqual((yield* persistently(checkOut(cart, {}, { "idempotency-key": `traded-${n}` }))).status, 201)
})

/** The retries of deliveries are due now: their back-off begins with three minutes. */
const hurry = (url: string) =>
  onDatabase(
    url,
    (sql) =>
      sql`with due as (update commerce_jobs set wait_until = now() where queue = 'webhooks' and status = 'pending'
        and not blocked and wait_until > now() returning 1)
      select pg_notify('stoa_jobs', 'webhooks') from (select count(*) from due) notified`
  )

const failedAttempts = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ n: number }>`select count(*)::int4 as n from webhook_deliveries where failed_at is not null`,
      ([row]) => row?.n ?? 0
    ))

/** What is not delivered, or not even announced. */
const undelivered = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ n: number }>`select ((select count(*) from webhook_dispatches)
        + (select count(*) from outbox_events where position is null))::int4 as n`,
      ([row]) => row?.n ?? 0
    ))

/** Kills the receiver, lets a delivery fail (or all be done before that) and starts it again. */
const strikeReceiver = Effect.fnUntraced(
  function*(url: string, receiver: ReceiverProcess, over: Effect.Effect<boolean>) {
    const before = yield* failedAttempts(url)
    yield* receiver.kill
    const look = Effect.gen(function*() {
      return (yield* failedAttempts(url)) > before || (yield* over)
    })
    yield* eventually("a delivery to fail", look)
    yield* receiver.start
  }
)

/** Waits until as many more requests have come to the receiver, or nothing will come any more. */
const moreArrivals = (url: string, receiver: ReceiverProcess, more: number, over: Effect.Effect<boolean>) => {
  const wanted = receiver.arrivals().length + more
  // What failed before is due again with every look: here the receiver is there.
  const look = Effect.gen(function*() {
    yield* Effect.andThen(hurry(url), Effect.sleep("50 millis"))
    return receiver.arrivals().length >= wanted || (yield* over)
  })
  return eventually("more arrivals", look)
}

/** Waits until everything is delivered, with the retries made due again and again. */
const allDelivered = (url: string) =>
  eventually(
    "all to be delivered",
    Effect.gen(function*() {
      yield* Effect.andThen(hurry(url), Effect.sleep("250 millis"))
      return (yield* undelivered(url)) === 0
    }),
    120_000
  )

interface Announced {
  readonly id: string
  readonly record: string
  readonly sequence: number
}

/** First arrivals of a record's events whose sequence is not greater than that of the one before. */
const outOfOrder = (events: ReadonlyArray<Announced>, arrivals: ReadonlyArray<Arrival>) => {
  const known = new Map(events.map((event) => [event.id, event]))
  const last = new Map<string, number>()
  return [...new Set(arrivals.map(({ id }) => id))].filter((id) => {
    const event = known.get(id)
    if (event === undefined) return true
    const before = last.get(event.record) ?? 0
    last.set(event.record, event.sequence)
    return event.sequence <= before
  })
}

/** Asserts that every event came, accepted, with one body, and after the earlier ones of its record. */
const auditArrivals = Effect.fnUntraced(function*(url: string, arrivals: ReadonlyArray<Arrival>) {
  const [events, givenUp] = yield* onDatabase(url, (sql) =>
    Effect.all([
      sql<Announced>`select 'evt_' || id as id, entity_type || ' ' || entity_id as record,
        event_sequence::int4 as sequence from outbox_events where event_sequence is not null order by 3`,
      sql`select id, error from commerce_jobs where queue = 'webhooks' and status = 'failed'`
    ]))
  assert.deepStrictEqual(givenUp, [])
  assert.sameMembers([...new Set(arrivals.map(({ id }) => id))], events.map(({ id }) => id))
  assert.deepStrictEqual(arrivals.filter(({ accepted }) => !accepted), [])
  assert.deepStrictEqual(outOfOrder(events, arrivals), [])
  const bodies = Map.groupBy(arrivals, ({ id }) => id)
  assert.deepStrictEqual([...bodies.values()].filter((of) => new Set(of.map(({ body }) => body)).size > 1), [])
  const records = new Set(events.map(({ record }) => record)).size
  return { events: events.length, records, repeated: arrivals.length - events.length }
})

/**
 * Shops trade while the receiver and each of two runners are killed in turn, until everything is delivered or `most`
 * kills were done; then all of it is delivered and audited.
 */
export const deliverUnderKills = Effect.fnUntraced(function*({ changes, most = Infinity, shops }: {
  readonly shops: number
  readonly changes: number
  readonly most?: number
}) {
  const { url: databaseUrl } = yield* freshDatabase
  const receiver = yield* receiverProcess
  const options = { databaseUrl, environment: delivering }
  const [edge, ...runners] = yield* Effect.all([
    startService({ ...options, role: "api" }),
    placeOf({ ...options, role: "runner" }),
    placeOf({ ...options, role: "runner" })
  ], { concurrency: 3 })
  const app = talkingTo(edge, databaseUrl)
  yield* Effect.provide(subscribe(receiver), app)
  const trading = yield* Effect.forkChild(
    Effect.forEach(Array.from({ length: shops }, (_, n) => n), (n) => trade(n, changes), {
      concurrency: 3,
      discard: true
    }).pipe(Effect.provide(app))
  )
  const kills = { receiver: 0, runner: 0 }
  const over = Effect.map(undelivered(databaseUrl), (open) => open === 0 && trading.pollUnsafe() !== undefined)
  while (kills.receiver + kills.runner < most && !(yield* over)) {
    yield* moreArrivals(databaseUrl, receiver, 1 + Math.floor(Math.random() * 8), over)
    if (kills.receiver <= kills.runner) {
      yield* strikeReceiver(databaseUrl, receiver, over)
      kills.receiver++
    } else {
      yield* runners[kills.runner++ % 2]?.strike ?? Effect.void
    }
  }
  yield* Fiber.join(trading)
  yield* allDelivered(databaseUrl)
  return { ...(yield* auditArrivals(databaseUrl, receiver.arrivals())), kills }
})

/** A request that the receiver noted; `accepted` says that the public library found its signature good. */
export interface Arrival {
  readonly id: string
  readonly accepted: boolean
  readonly body: string
}

/** A receiver of webhooks in a separate process, which can be killed and started again on its port. */
interface ReceiverProcess {
  readonly url: string
  /** What the endpoint is to be registered with. */
  readonly secret: string
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Everything that was noted, in its order, by all of its lives. */
  readonly arrivals: () => ReadonlyArray<Arrival>
}

const program = fileURLToPath(new URL("./serveReceiver.ts", import.meta.url))
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

const launch = async (port: number, file: string): Promise<ChildProcess> => {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const child = spawn(process.execPath, [program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...inherited, PORT: String(port), STOA_TEST_ARRIVALS: file, STOA_TEST_SECRET: secret }
  })
  let output = ""
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString()
  })
  await waitFor("the receiver to listen", () => output.includes("listening"))
  return child
}

const end = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    child.kill("SIGKILL")
  })

/** Starts one; it is killed when the scope closes. */
const receiverProcess: Effect.Effect<ReceiverProcess, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = mkdtempSync(join(tmpdir(), "stoa-receiver-"))
    const file = join(directory, "arrivals")
    writeFileSync(file, "")
    const port = await freePort()
    let child = await launch(port, file)
    const kill = Effect.promise(() => end(child))
    const receiver: ReceiverProcess = {
      url: `http://127.0.0.1:${port}/hook`,
      secret,
      kill,
      start: Effect.promise(async () => {
        child = await launch(port, file)
      }),
      // Noted by `serveReceiver.ts`.
      arrivals: () =>
        readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
    }
    return { receiver, remove: () => rmSync(directory, { recursive: true }) }
  }),
  ({ receiver, remove }) => Effect.andThen(receiver.kill, Effect.sync(remove))
).pipe(Effect.map(({ receiver }) => receiver))
