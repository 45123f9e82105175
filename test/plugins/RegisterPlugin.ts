import { Effect, Schema } from "effect"
import {
  afterHook,
  Conflict,
  CurrencyCode,
  definePlugin,
  EntityId,
  group,
  idOf,
  integer,
  LineRequest,
  oneOf,
  OrderId,
  type PaymentAdapter,
  PaymentDeclined,
  PostalAddress,
  table,
  Text,
  text,
  WarehouseId
} from "stoa/plugin"

const sales = table("register_sales", { orderId: idOf(OrderId).unique(), cash: integer })

/** What learned of an order, and the status in which it saw it. */
const slips = table("register_slips", { orderId: idOf(OrderId), source: oneOf(["event", "hook"]), status: text }, {
  unique: [{ columns: ["orderId", "source"] }]
})

const Sale = Schema.Struct({
  id: Text,
  warehouseId: WarehouseId,
  lines: Schema.Array(LineRequest).check(Schema.isMaxLength(100)),
  /** Amounts as a device may send them: right or wrong. */
  cash: Schema.Finite,
  card: Schema.optional(Schema.Finite),
  shipping: Schema.optional(Schema.Finite),
  email: Schema.optional(Text),
  handedOverAt: Schema.optional(PostalAddress),
  stock: Schema.optional(Schema.Literals(["refuse", "allow"])),
  mails: Schema.optional(Schema.Boolean),
  /** Units of this are used up. */
  uses: Schema.optional(Schema.Struct({ entityId: EntityId, units: Schema.Int })),
  codes: Schema.optional(Schema.Array(Text).check(Schema.isMaxLength(10))),
  /** What happens after the register has written its row. */
  then: Schema.optional(Schema.Literals(["fail"]))
})

/** What the drawer gave back, with the id of the payment. */
export const drawer: Array<readonly [intentId: string, amount: number]> = []

const refused = Effect.fail(new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "At the till only." }))

const cash: PaymentAdapter = {
  providerId: "cash",
  authorize: () => refused,
  capture: () => refused,
  cancel: () => refused,
  refund: (intentId, amount, _, key) => Effect.as(Effect.sync(() => drawer.push([intentId, amount])), `drawer-${key}`)
}

const routes = group("Register", "/register")

/** A register: its row, the order, its payments and the stock are one transaction. */
export const register = definePlugin({
  id: "register",
  version: "1.0.0",
  schema: () => [sales, slips],
  hooks: () => [
    afterHook("orders.afterCreate", ({ context: { db }, result }) =>
      Effect.catch(
        db.table(slips).insert({ orderId: result.id, source: "hook", status: result.status }),
        Effect.die
      ))
  ],
  onEvents: {
    "orders.create": ({ db, event, services }) =>
      Effect.gen(function*() {
        const { id, status } = yield* services.orders.get(OrderId.make(event.entityId))
        yield* db.table(slips).insert({ orderId: id, source: "event", status })
      }).pipe(Effect.catchIf(Schema.is(Conflict), () => Effect.void))
  },
  paymentMethods: () => [cash],
  routes: () => [
    routes.post("/sales", { auth: true, input: Sale }).handle(({ db, input, services }) =>
      services.orders.createSold({
        reference: { type: "sale", id: input.id },
        currency: CurrencyCode.make("USD"),
        channel: "register",
        warehouseId: input.warehouseId,
        lineItems: input.lines,
        shippingTotal: input.shipping,
        email: input.email,
        promotionCodes: input.codes,
        handedOverAt: input.handedOverAt,
        stock: input.stock,
        mails: input.mails,
        consumes: input.uses && [{
          entityId: input.uses.entityId,
          warehouseId: input.warehouseId,
          delta: -input.uses.units
        }],
        tenders: [
          ...(input.card === undefined
            ? []
            : [{ method: "test", label: "Card", amount: input.card, reference: "slip-1" }]),
          { method: "cash", label: "Cash", amount: input.cash, reference: input.id }
        ]
      }, ({ id }) =>
        Effect.gen(function*() {
          yield* db.table(sales).insert({ orderId: id, cash: input.cash })
          if (input.then === "fail") return yield* Effect.fail(Conflict.of("The drawer is stuck."))
        }))
    )
  ]
})
