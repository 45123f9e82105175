import { Effect, Schema } from "effect"
import {
  CartId,
  type CheckoutToDecide,
  CurrencyCode,
  definePlugin,
  group,
  HookRefusal,
  idOf,
  json,
  oneOf,
  OrderId,
  table,
  WarehouseId
} from "stoa/plugin"

const routes = group("Till", "/till")

/** What the till was asked and learned of checkouts. */
export const till = table("till_calls", {
  checkoutId: idOf(OrderId),
  call: oneOf(["decide", "created", "failed"]),
  data: json.nullable
})

const decisionOf = ({ metadata, subtotal }: CheckoutToDecide) => ({
  shippingTotal: 0,
  shippingMethod: "Counter",
  channel: "till",
  data: { secret: "drawer", subtotal },
  ...(typeof metadata["warehouseId"] === "string" ? { warehouseId: WarehouseId.make(metadata["warehouseId"]) } : {})
})

/** Decides checkouts that name a till, and writes down what it learns. */
export const tillPlugin = definePlugin({
  id: "till",
  version: "1.0.0",
  schema: () => [till],
  routes: () => [
    routes.post("/quote", { auth: true, input: Schema.Struct({ cartId: CartId }) }).handle(({ input, services }) =>
      services.quotes.quote({ ...input, currency: CurrencyCode.make("USD"), metadata: { till: "1" } })
    )
  ],
  checkoutExtension: ({ db }) => {
    const tell = (call: "created" | "failed") => ({ checkoutId, data }: { checkoutId: OrderId; data: object | null }) =>
      Effect.catch(Effect.asVoid(db.table(till).insert({ checkoutId, call, data: data && { ...data } })), Effect.die)
    return {
      decide: Effect.fnUntraced(function*(checkout) {
        const { checkoutId, metadata } = checkout
        if (metadata["till"] === undefined) return undefined
        if (metadata["till"] === "closed") return yield* Effect.fail(new HookRefusal("The till is closed."))
        if (metadata["till"] === "broken") return yield* Effect.die(new Error("secret of the till"))
        if (checkoutId !== null) {
          yield* Effect.catch(db.table(till).insert({ checkoutId, call: "decide", data: null }), Effect.die)
        }
        return decisionOf(checkout)
      }),
      created: tell("created"),
      failed: tell("failed")
    }
  }
})
