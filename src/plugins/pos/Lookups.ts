import { Effect, Schema } from "effect"
import { EntityId, notFound, Text } from "stoa/plugin"
import { byCode, byText, Found, StockHere, stockOf } from "./LookupRepo.ts"
import { routes, tillOrDevice } from "./Terminals.ts"

class NoSuchCode extends notFound("PosCode", "Nothing that is sold has this code.") {}

const shape = Schema.String.check(Schema.isBetweenLength(1, 200))

const lookup = (column: "barcode" | "sku") =>
  routes.get(`/lookup/${column}/:code`, {
    summary: `Find goods by their ${column}`,
    description: "404 without any that is active.",
    ...tillOrDevice,
    params: { code: Text },
    success: Found
  }).handle(({ db, params }) =>
    Effect.flatMap(
      db.use(byCode)(column, params.code),
      ([found]) => found === undefined ? new NoSuchCode() : Effect.succeed(found)
    )
  )

/** What a till asks while it sells (contract-tills-channels §A.10). */
export const lookupRoutes = [
  lookup("barcode"),
  lookup("sku"),
  routes.get("/lookup/search", {
    summary: "Find goods by a part of title, slug or SKU",
    description: "At most 20.",
    ...tillOrDevice,
    query: { q: shape },
    success: Schema.Array(Found)
  }).handle(({ db, query: { q } }) => db.use(byText)(q)),
  routes.get("/lookup/stock/:entityId", {
    summary: "Read what can be sold of goods, by warehouse",
    ...tillOrDevice,
    success: Schema.Array(StockHere)
  }).handle(({ db, params }) => db.use(stockOf)(EntityId.make(params.entityId)))
]
