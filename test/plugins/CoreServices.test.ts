import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ApiError, CartId, CurrencyCode, definePlugin, group, LineRequest, OrderId, Text } from "stoa/plugin"
import { holding, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const routes = group("Subscriptions", "/subscriptions")
const currency = CurrencyCode.make("USD")
const OfOrder = Schema.Struct({ orderId: OrderId })

/** Routes over services of the core, which act for the actor of the request. */
const subscriptions = definePlugin({
  id: "subscriptions",
  version: "1.0.0",
  keyScopes: { device: { prefix: "device_", permissions: { orders: ["read"] } } },
  routes: () => [
    routes.post("/run", { auth: true, input: Schema.Struct({ id: Text, cartId: CartId, method: Text }) }).handle((
      { input: { cartId, id, method }, services }
    ) =>
      Effect.map(
        services.checkout.startOnce({ cartId, paymentMethodId: method, currency }, id),
        ({ order }) => order
      )
    ),
    routes.post("/edit", { auth: true, input: Schema.Struct({ orderId: OrderId, line: LineRequest }) }).handle((
      { input: { line, orderId }, services }
    ) => services.orders.addLine(orderId, line)),
    routes.post("/capture", { auth: true, input: OfOrder }).handle(({ input: { orderId }, services }) =>
      services.captures.capture(orderId, undefined).pipe(
        Effect.catchTag("PaymentCaptureFailed", ({ error }) => Effect.fail(ApiError.of({ status: 422, ...error })))
      )
    ),
    routes.post("/invoice", { auth: true, input: OfOrder }).handle(({ input: { orderId }, services }) =>
      Effect.map(services.invoices.page(orderId), ({ fileName }) => ({ fileName }))
    ),
    routes.post("/key", { auth: true }).handle(({ services }) =>
      services.apiKeys.create({ name: "Device", scope: "device", expiresAt: new Date(Date.now() + 3_600_000) })
    )
  ]
})

const call = (path: string, body: object, as: typeof asAdmin = asAdmin) =>
  api("POST", `/api/subscriptions/${path}`, { as, body })

layer(testAppLayer({ plugins: [subscriptions], payments: { capture: "manual" } }), live)(
  "a service of the core",
  (it) => {
    it.effect("checks a cart out once for a plugin's key, and tries again after a failure", () =>
      Effect.gen(function*() {
        const { id: cartId } = yield* aCartWith(yield* aProduct({}))
        refused(yield* call("run", { id: "row-1", cartId, method: "test_decline" }), 422, "CHECKOUT_FAILED")
        const first = yield* call("run", { id: "row-1", cartId, method: "test" })
        const second = yield* call("run", { id: "row-1", cartId, method: "test" })
        assert.deepStrictEqual(
          [first.status, second.at("data.id")],
          [201, first.at("data.id")],
          JSON.stringify(first.body)
        )
        refused(yield* call("run", { id: "row-1", cartId, method: "test_capture_fail" }), 409, "CONFLICT")
      }))

    it.effect("captures, invoices and edits orders with the permissions of the request's actor", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 500 })
        const orderId = (yield* checkOut(yield* aCartWith(entityId))).text("data.id")
        refused(yield* call("capture", { orderId }, holding("orders:read")), 403, "FORBIDDEN")
        assert.strictEqual((yield* call("capture", { orderId })).at("data.amountCaptured"), 500)
        assert.match((yield* call("invoice", { orderId })).text("data.fileName"), /\.html$/)
        const body = { currency: "USD", lineItems: [{ entityId, quantity: 1 }] }
        const written = yield* api("POST", "/api/orders", { as: asAdmin, body })
        const line = { entityId, quantity: 1, metadata: { engraving: "A" } }
        const edited = yield* call("edit", { orderId: written.text("data.id"), line })
        assert.strictEqual(edited.at("data.grandTotal"), 1_000, JSON.stringify(edited.body))
      }))

    it.effect("gives keys of a plugin's scope that run out, to those who may", () =>
      Effect.gen(function*() {
        const before = Date.now()
        const made = yield* call("key", {})
        assert.match(made.text("data.key"), /^device_/)
        const after = Date.now()
        const expires = Date.parse(made.text("data.apiKey.expiresAt"))
        assert.isTrue(expires >= before + 3_600_000 && expires <= after + 3_600_000)
        const orders = yield* api("GET", "/api/orders", { headers: { "x-api-key": made.text("data.key") } })
        assert.strictEqual(orders.status, 200)
        refused(yield* call("key", {}, holding("catalog:read")), 403, "FORBIDDEN")
      }))
  }
)
