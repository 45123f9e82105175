import { Effect, Schema } from "effect"
import { type CurrentActor, EntityId, invalid, type PluginDatabase, type Usable, VariantId } from "stoa/plugin"
import { type DishLine, partsOf } from "./Parts.ts"
import { kitchenWarehouse, needsOf, onHandOf } from "./RecipeRepo.ts"
import type { RestaurantSettings } from "./RestaurantOptions.ts"

export const Amount = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  ingredientName: Schema.String,
  quantity: Schema.Int
})
/** Units of an ingredient. */
export type Amount = typeof Amount.Type

export const sellable = ({ entityId, variantId }: Pick<Amount, "entityId" | "variantId">) =>
  `${entityId} ${variantId ?? ""}`

export const together = (all: ReadonlyArray<Amount>): ReadonlyArray<Amount> =>
  [...Map.groupBy(all, sellable).values()].flatMap((same) =>
    same.slice(0, 1).map((one) => ({ ...one, quantity: same.reduce((sum, { quantity }) => sum + quantity, 0) }))
  )

/** Says what dishes of these lines take from stock, line by line, each rounded half up. At most three statements. */
export const amountsOf = Effect.fnUntraced(function*(db: PluginDatabase, lines: ReadonlyArray<DishLine>) {
  const parts = yield* db.use(partsOf)(lines)
  const dishes = [...new Set(parts.flat().map(({ entityId }) => entityId))]
  const all = Map.groupBy(dishes.length === 0 ? [] : yield* db.use(needsOf)(dishes), ({ dishId }) => dishId)
  return parts.map((own) =>
    together(
      own.flatMap(({ entityId, quantity }) =>
        (all.get(entityId) ?? []).map(({ dishId: _, quantity: each, yieldQuantity, ...of }) => ({
          ...of,
          quantity: Math.round(each * quantity / yieldQuantity)
        }))
      )
    )
  )
})

/** An ingredient of which a warehouse has too little. */
export interface Shortage extends Amount {
  readonly missing: number
}

const findShortages = Effect.fn("Recipes.shortages")(
  function*(db: PluginDatabase, lines: ReadonlyArray<DishLine>, transactionId: string | undefined) {
    const wanted = together((yield* amountsOf(db, lines)).flat())
    const warehouseId = wanted.length === 0
      ? undefined
      : yield* db.use(kitchenWarehouse)(transactionId === undefined ? {} : { transactionId })
    const levels = warehouseId === undefined
      ? []
      : yield* db.use(onHandOf)(warehouseId, wanted.map(({ entityId }) => entityId))
    const there = new Map(levels.map((level) => [sellable(level), level.quantityOnHand]))
    return wanted.flatMap((one): ReadonlyArray<Shortage> => {
      const missing = one.quantity - (there.get(sellable(one)) ?? 0)
      return missing > 0 ? [{ ...one, missing }] : []
    })
  }
)

/**
 * Says what the warehouse of a till lacks to cook lines: `db.use(shortagesOf)(lines, transactionId)`. At most five
 * statements.
 */
export const shortagesOf: Usable<
  (
    lines: ReadonlyArray<DishLine>,
    transactionId?: string
  ) => Effect.Effect<ReadonlyArray<Shortage>, never, CurrentActor>
> = { on: (db) => (lines, transactionId) => findShortages(db, lines, transactionId) }

export class IngredientsMissing extends invalid(
  "KitchenShort",
  "items",
  (names: string) => `items need more than the kitchen has of ${names}.`
) {}

/** Refuses to cook lines for which ingredients are missing, where the option `shortage` is `block`. */
export const requireIngredients = Effect.fnUntraced(function*(
  db: PluginDatabase,
  { shortage }: RestaurantSettings,
  lines: ReadonlyArray<DishLine>,
  transactionId?: string
) {
  const short = shortage === "block" ? yield* db.use(shortagesOf)(lines, transactionId) : []
  if (short.length > 0) {
    return yield* new IngredientsMissing(short.map(({ ingredientName }) => ingredientName).join(", "))
  }
})
