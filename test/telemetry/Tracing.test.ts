import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { type Hook, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { otlpReceiver, type ReceivedSpan } from "../support/OtlpReceiver.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const receiver = await otlpReceiver()

const hooks: ReadonlyArray<Hook> = [
  { key: "catalog.beforeRead", before: () => Effect.fail(new HookRefusal("Closed.")) },
  {
    key: "catalog.beforeList",
    before: () => Effect.die(new Error("cannot reach https://user:hunter2hunter2@erp.example"))
  }
]

const tracing = {
  url: receiver.url,
  headers: { "x-tenant": Redacted.make("acme") },
  serviceName: "stoa-test",
  sampler: "always_on"
} as const

const traced = testAppLayer({ hooks }, { tracing }).pipe(
  Layer.provideMerge(Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Effect.promise(receiver.close))))
)

const incoming = (digit: string) => ({
  traceId: digit.repeat(32),
  headers: { traceparent: `00-${digit.repeat(32)}-${"b".repeat(16)}-01` }
})

/** All spans of a trace, once one of them fits. */
const traceWith = (traceId: string, fits: (span: ReceivedSpan) => boolean) =>
  Effect.promise(() =>
    waitFor(`the spans of ${traceId}`, async () => {
      const found = receiver.spans.filter((span) => span.traceId === traceId)
      return found.some(fits) ? found : undefined
    })
  )

const isRequest = ({ attributes }: ReceivedSpan) => attributes["http.response.status_code"] !== undefined

layer(traced, live)("traces over OTLP", (it) => {
  it.effect("a request carries on the trace of its client, with the route's template and the status", () =>
    Effect.gen(function*() {
      const { headers, traceId } = incoming("a")
      yield* api("GET", "/api/carts/01a1fafa-1d2a-7285-983b-8794ce53d471", { headers })
      const spans = yield* traceWith(traceId, isRequest)
      const request = spans.find(isRequest)
      assert.strictEqual(request?.parentSpanId, "b".repeat(16))
      assert.strictEqual(request?.attributes["http.route"], "/api/carts/{id}")
      assert.strictEqual(String(request?.attributes["http.response.status_code"]), "404")
      assert.deepInclude(receiver.requests[0], { path: "/v1/traces" })
      assert.strictEqual(receiver.requests[0]?.headers["x-tenant"], "acme")
    }))

  it.effect("traces a request whose client says that its trace is not sampled", () =>
    Effect.gen(function*() {
      const traceId = "9".repeat(32)
      yield* api("GET", "/api/catalog/entities", { headers: { traceparent: `00-${traceId}-${"b".repeat(16)}-00` } })
      const spans = yield* traceWith(traceId, isRequest)
      assert.isTrue(spans.some(({ parentSpanId }) => parentSpanId === "b".repeat(16)))
      assert.isAbove(spans.length, 1, "and so is what the request does")
    }))

  it.effect("one trace holds the request, the actor it called and the statement that the actor wrote", () =>
    Effect.gen(function*() {
      const { headers, traceId } = incoming("c")
      const cart = yield* aGuestCart()
      const line = yield* addTo(cart, yield* aProduct())
      // A line that is added shares its statement with those of other requests, a quantity that is set does not.
      yield* api("PATCH", `/api/carts/${cart.id}/items/${line.text("data.id")}`, {
        headers: { ...cart.headers, ...headers },
        body: { quantity: 2 }
      })
      const spans = yield* traceWith(traceId, isRequest)
      assert.isAtLeast(
        spans.filter(({ name }) => name.includes("setQuantity")).length,
        2,
        "the client's and the actor's"
      )
      const statements = spans.map(({ attributes }) => String(attributes["db.query.text"]))
      assert.isTrue(statements.some((text) => text.includes("update cart_lines")), statements.join("\n"))
    }))

  it.effect("a checkout's durable process belongs to the trace of its request", () =>
    Effect.gen(function*() {
      const { headers, traceId } = incoming("d")
      const cart = yield* aCartWith(yield* aProduct())
      const order = yield* checkOut(cart, {}, headers)
      assert.strictEqual(order.status, 201)
      const spans = yield* traceWith(traceId, isRequest)
      const names = spans.map(({ name }) => name)
      assert.includeMembers(names, ["Checkout.purchase", "Checkout.reserve"])
    }))

  it.effect("holds no secrets: neither headers nor parameters of statements nor what a failure says", () =>
    Effect.gen(function*() {
      const { headers, traceId } = incoming("e")
      const secrets = { "x-cart-secret": "cart-secret-of-a-guest" }
      const answer = yield* api("GET", "/api/catalog/entities", { headers: { ...headers, ...secrets } })
      assert.strictEqual(answer.status, 500)
      yield* traceWith(traceId, isRequest)
      const sent = receiver.spans.map(({ json }) => json).join("\n")
      assert.include(sent, "cannot reach")
      for (const secret of ["hunter2hunter2", "cart-secret-of-a-guest"]) assert.notInclude(sent, secret)
    }))
})
