import { Context, Effect, Layer, Schema } from "effect"
import {
  afterHook,
  childOf,
  definePlugin,
  defineTask,
  group,
  integer,
  oneOf,
  PluginContext,
  type PluginDatabase,
  table,
  text,
  Uuid,
  uuid,
  ValidationFailed
} from "stoa/plugin"

const accounts = table("loyalty_accounts", {
  customerId: uuid.unique(),
  points: integer.default(0),
  tier: oneOf(["basic", "gold"]).default("basic"),
  note: text.nullable
})
const entries = childOf(accounts, "accountId", "loyalty_entries", {
  accountId: uuid.references(accounts),
  delta: integer,
  reason: text
})

/** Points of customers; one instance for routes, hooks and jobs. */
class Points extends Context.Service<Points, {
  readonly add: (
    customerId: string,
    delta: number,
    reason: string
  ) => ReturnType<typeof adding>
  /** How often this instance was asked. */
  readonly asked: () => number
}>()("test/plugins/Points") {
  static readonly layer = Layer.effect(
    Points,
    Effect.map(PluginContext, ({ db }) => {
      let times = 0
      return {
        add: (customerId: string, delta: number, reason: string) => {
          times++
          return adding(db, customerId, delta, reason)
        },
        asked: () => times
      }
    })
  )
}

const adding = Effect.fnUntraced(
  function*(db: PluginDatabase, customerId: string, delta: number, reason: string) {
    const found = yield* db.table(accounts).first({ customerId })
    const account = found ?? (yield* db.table(accounts).insert({ customerId }))
    yield* db.table(entries).insert({ accountId: account.id, delta, reason })
    if (account.points + delta < 0) return yield* ValidationFailed.of("delta", "is more than there is")
    return yield* db.table(accounts).update(account.id, { points: account.points + delta })
  },
  (work, db) => db.transaction(work)
)

const loyaltyRoutes = group("Loyalty", "/loyalty")

/** A plugin of every part, as tests of the interface install it. */
export const loyalty = definePlugin({
  id: "loyalty",
  version: "1.2.3",
  examples: new URL("./loyalty-examples.json", import.meta.url),
  permissions: [
    { scope: "loyalty:read", description: "See points" },
    { scope: "loyalty:write", description: "Give points" }
  ],
  schema: () => ({ accounts, entries }),
  layer: Points.layer,
  events: ["loyalty.upgraded"],
  hooks: () => [
    afterHook("customers.afterCreate", ({ context: { logger }, result }) => {
      logger.info("a new customer gets points")
      return Points.use(({ add }) => add(result.id, 10, "welcome"))
    })
  ],
  routes: () => [
    loyaltyRoutes.list("/accounts", {
      summary: "List accounts",
      permission: "loyalty:read",
      query: { tier: Schema.optional(Schema.Literals(["basic", "gold"])) },
      success: accounts.Row
    }).handle(({ db, page, query }) => db.table(accounts).page({ tier: query.tier }, page)),
    loyaltyRoutes.post("/accounts", {
      permission: "loyalty:write",
      input: Schema.Struct({ customerId: Uuid, note: Schema.optional(Schema.String) }),
      success: accounts.Row
    }).handle(({ db, input }) => db.table(accounts).insert(input)),
    loyaltyRoutes.get("/accounts/:id", { permission: "loyalty:read", success: accounts.Row })
      .handle(({ db, params }) => db.table(accounts).get(params.id)),
    loyaltyRoutes.patch("/accounts/:id", {
      permission: "loyalty:write",
      input: Schema.Struct({ tier: Schema.Literals(["basic", "gold"]) }),
      success: accounts.Row
    }).handle(({ db, input, params }) =>
      db.transaction(Effect.gen(function*() {
        const account = yield* db.table(accounts).update(params.id, input)
        yield* db.announce("loyalty.upgraded", { entityType: "loyalty", entityId: account.id, payload: account })
        return account
      }))
    ),
    loyaltyRoutes.delete("/accounts/:id", { permission: "loyalty:write", success: accounts.Row })
      .handle(({ db, params }) => db.table(accounts).delete(params.id)),
    loyaltyRoutes.list("/accounts/:id/entries", { permission: "loyalty:read", success: entries.Row })
      .handle(({ db, page, params }) =>
        Effect.andThen(db.table(accounts).get(params.id), db.table(entries).page({ accountId: params.id }, page))
      ),
    loyaltyRoutes.post("/points", {
      auth: true,
      input: Schema.Struct({ customerId: Uuid, delta: Schema.Int }),
      success: accounts.Row
    }).handle(({ input }) => Effect.flatMap(Points, (points) => points.add(input.customerId, input.delta, "given"))),
    loyaltyRoutes.get("/asked", { public: "a count says nothing of anybody", success: Schema.Int })
      .handle(() => Effect.map(Points, (points) => points.asked()))
  ],
  analyticsModels: () => [{
    name: "LoyaltyAccounts",
    table: "loyalty_accounts",
    measures: { count: { type: "count" }, points: { type: "sum", sql: "loyalty_accounts.points" } },
    dimensions: { tier: { sql: "loyalty_accounts.tier", type: "string" } }
  }],
  tasks: () => [
    defineTask({
      slug: "loyalty/give",
      handler: ({ input }) => Points.use(({ add }) => Effect.asVoid(add(String(input["customerId"]), 1, "job")))
    })
  ]
})
