import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { type ClientOptions, StoaClient, waitOf, withRequestHeaders } from "../../src/client/StoaClient.ts"
import { EntityId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { aKey, signIn } from "../access/People.ts"
import { listening } from "../support/Listening.ts"
import { notedWaits } from "../support/NotedWaits.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aProduct } from "../support/Purchase.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"

const built = (options: ClientOptions) =>
  Effect.map(Layer.build(Layer.fresh(StoaClient.layer(options))), (context) => Context.get(context, StoaClient))

const clientOf = (options: Omit<ClientOptions, "url">) =>
  Effect.flatMap(TestApp, ({ url }) => built({ url, ...options }))

const usd = CurrencyCode.make("USD")
const app = { excludeTestServices: true, timeout: "60 seconds" } as const

layer(testAppLayer(), app)("the client", (it) => {
  it.effect("gives what the routes gave, without the envelope", () =>
    Effect.gen(function*() {
      const stoa = yield* clientOf({ apiKey: "dev-admin-key" })
      const made = yield* stoa.catalog.create({ payload: { type: "product", slug: "typed" } })
      assert.instanceOf(made.createdAt, Date)
      const page = yield* stoa.catalog.list({ query: { limit: "5" } })
      assert.deepStrictEqual([page.total, page.items.map(({ id }) => id)], [1, [made.id]])
      assert.deepStrictEqual(yield* stoa.catalog.remove({ params: { id: made.id } }), { deleted: true })
    }))

  it.effect("is refused for unknown names, unless a request prefers lenient handling", () =>
    Effect.gen(function*() {
      const stoa = yield* clientOf({ apiKey: "dev-admin-key" })
      const list = stoa.catalog.list({ query: { include: "brnads" } })
      const refused = yield* Effect.flip(list)
      assert.strictEqual(refused._tag, "ValidationFailed")
      assert.include(JSON.stringify(refused), "include.brnads is not a known name.")
      yield* withRequestHeaders({ prefer: "handling=lenient" })(list)
    }))

  it.effect("fails with the typed errors of the specification", () =>
    Effect.gen(function*() {
      const stoa = yield* clientOf({ apiKey: "dev-admin-key" })
      yield* stoa.catalog.create({ payload: { type: "product", slug: "taken" } })
      const conflict = yield* Effect.flip(stoa.catalog.create({ payload: { type: "product", slug: "taken" } }))
      assert.strictEqual(conflict._tag, "Conflict")
      const missing = yield* Effect.flip(stoa.catalog.read({ params: { id: "none" }, query: {} }))
      assert.strictEqual(missing._tag, "NotFound")
      const visitor = yield* clientOf({})
      assert.strictEqual((yield* Effect.flip(visitor.orders.list({ query: {} })))._tag, "Unauthorized")
      const wrong = yield* clientOf({ apiKey: "stoa_no_such_key" })
      assert.strictEqual((yield* Effect.flip(wrong.orders.list({ query: {} })))._tag, "Unauthorized")
    }))

  it.effect("acts as its key or its session does, in their organization", () =>
    Effect.gen(function*() {
      const { organizationId } = yield* anOrganization
      const { key } = yield* aKey({ role: "admin", organization: organizationId })
      const ofKey = yield* clientOf({ apiKey: key })
      const made = yield* ofKey.catalog.create({ payload: { type: "product", slug: "elsewhere" } })
      assert.strictEqual(made.organizationId, organizationId)
      const other = yield* clientOf({ apiKey: "dev-admin-key" })
      const read = yield* Effect.flip(other.catalog.read({ params: { id: made.id }, query: {} }))
      assert.strictEqual(read._tag, "NotFound")
      const { token } = yield* signIn({ role: "staff" })
      const ofSession = yield* clientOf({ bearer: token })
      assert.isAtLeast((yield* ofSession.orders.list({ query: {} })).page, 1)
    }))

  it.effect("opens a guest's cart with its secret", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const stoa = yield* clientOf({})
      const cart = yield* stoa.carts.create({ payload: { currency: usd } })
      const add = stoa.carts.addItem({
        params: { id: cart.id },
        query: { include: "totals" },
        payload: { entityId: EntityId.make(entityId), quantity: 1 }
      })
      assert.strictEqual((yield* Effect.flip(add))._tag, "NotFound")
      const line = yield* add.pipe(withRequestHeaders({ "x-cart-secret": cart.secret }))
      assert.strictEqual(line.entityId, entityId)
      assert.strictEqual("totals" in line ? line.totals.grandTotal : undefined, 1_000)
    }))

  it.effect("makes a change once if the caller repeats it with the same key", () =>
    Effect.gen(function*() {
      const stoa = yield* clientOf({ apiKey: "dev-admin-key" })
      const create = stoa.catalog.create({ payload: { type: "product", slug: "the-same-key" } }).pipe(
        withRequestHeaders({ "idempotency-key": "a-key-of-the-caller" })
      )
      assert.strictEqual((yield* create).id, (yield* create).id)
    }))
})

interface Asked {
  readonly method: string
  readonly key: string | undefined
}

/** A server that gives these answers one after the other and records its requests. */
const scripted = Effect.fnUntraced(function*(...answers: ReadonlyArray<(response: ServerResponse) => void>) {
  const asked: Array<Asked> = []
  const server = createServer((request, response) => {
    const key = request.headers["idempotency-key"]
    asked.push({ method: request.method ?? "", key: typeof key === "string" ? key : undefined })
    const answer = answers[Math.min(asked.length, answers.length) - 1]
    answer?.(response)
  })
  return { url: `http://127.0.0.1:${yield* listening(server)}`, asked }
})

const answer = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) => (to: ServerResponse) =>
  void to.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

const busy = (retryAfter?: string) =>
  answer(
    429,
    { error: { code: "TOO_MANY_REQUESTS", message: "later" } },
    retryAfter === undefined ? {} : { "retry-after": retryAfter }
  )
const away = answer(503, { error: { code: "SERVICE_UNAVAILABLE", message: "later" } })
const available = answer(200, { data: {} })
const reserved = answer(200, { data: { reserved: true } })

const units = {
  entityId: EntityId.make("01a1fafa-1828-734d-a466-2b91eb0fb4a0"),
  quantity: 1,
  orderId: "one"
}

describe("a client that gets 429 or 503", () => {
  plain.live("waits as long as Retry-After says, and asks again", () =>
    Effect.gen(function*() {
      const server = yield* scripted(busy("1"), away, available)
      const stoa = yield* built({ url: server.url, retries: { firstWait: 10 } })
      const { noting, waits } = notedWaits(() => true)
      assert.deepStrictEqual(yield* noting(stoa.inventory.check({ query: {} })), {})
      assert.deepStrictEqual([server.asked.length, waits.length, waits[0]], [3, 2, 1_000])
    }))

  plain.live(
    "sends a change again with the same idempotency key, and the next change with another",
    () =>
      Effect.gen(function*() {
        const server = yield* scripted(away, reserved)
        const stoa = yield* built({ url: server.url, retries: { firstWait: 1 } })
        yield* stoa.inventory.reserve({ payload: units })
        yield* stoa.inventory.reserve({ payload: units })
        const keys = server.asked.map(({ key }) => key)
        assert.strictEqual(keys.length, 3)
        assert.isDefined(keys[0])
        assert.strictEqual(keys[1], keys[0])
        assert.notStrictEqual(keys[2], keys[0])
      })
  )

  plain.live(
    "gives up after so many times, or when it would have to wait too long, or at once where that was said",
    () =>
      Effect.gen(function*() {
        const always = yield* scripted(away)
        const patient = yield* built({ url: always.url, retries: { times: 2, firstWait: 1 } })
        assert.strictEqual((yield* Effect.flip(patient.inventory.check({ query: {} })))._tag, "Unavailable")
        assert.strictEqual(always.asked.length, 3)
        const long = yield* scripted(busy("3600"))
        const hasty = yield* built({ url: long.url, retries: { longestWait: "1 second" } })
        assert.strictEqual((yield* Effect.flip(hasty.inventory.check({ query: {} })))._tag, "TooManyRequests")
        assert.strictEqual(long.asked.length, 1)
        const once = yield* scripted(away)
        const never = yield* built({ url: once.url, retries: false })
        assert.strictEqual((yield* Effect.flip(never.inventory.check({ query: {} })))._tag, "Unavailable")
        assert.strictEqual(once.asked.length, 1)
      })
  )

  plain("reads Retry-After in seconds and as a date", () => {
    const now = Date.UTC(2026, 0, 1)
    assert.strictEqual(waitOf("2", now), 2_000)
    assert.strictEqual(waitOf(new Date(now + 5_000).toUTCString(), now), 5_000)
    assert.strictEqual(waitOf(new Date(now - 5_000).toUTCString(), now), 0)
    assert.isUndefined(waitOf(undefined, now))
    assert.isUndefined(waitOf("soon", now))
  })
})
