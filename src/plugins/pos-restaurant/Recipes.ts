import { Effect, Schema, Struct } from "effect"
import {
  about,
  boolean,
  childOf,
  document,
  EntityId,
  fieldsOf,
  idOf,
  inputOf,
  integer,
  integerBetween,
  MinorUnits,
  type PluginDatabase,
  resource,
  type RowOf,
  table,
  text,
  uuid,
  VariantId
} from "stoa/plugin"
import { Deleted, deleted } from "./Modifiers.ts"
import { admin, routes } from "./RestaurantOptions.ts"

/** What a dish is made of; an entity has one active recipe. */
export const recipes = table("pos_recipes", {
  entityId: idOf(EntityId).existing("entity"),
  name: text.upTo(100),
  yieldQuantity: integerBetween(1, 100_000).default(1).about("Units of the dish that the ingredients make."),
  isActive: boolean.default(true)
}, { unique: [{ columns: ["entityId"], where: "is_active" }] })

/** With an entity it leaves stock, which counts the same unit. Costs are minor units of the store's currency. */
export const ingredients = childOf(recipes, "recipeId", "pos_recipe_ingredients", {
  recipeId: uuid.references(recipes),
  ingredientName: text.upTo(100).about("Name of an ingredient that is no product."),
  quantity: integerBetween(1, 1_000_000),
  unit: text.upTo(20).default("g").forPeople.about("Unit of the quantity."),
  costPerUnit: integerBetween(0, 10_000_000).default(0).about("Cost of one unit of the ingredient."),
  entityId: idOf(EntityId).existing("entity").nullable,
  variantId: idOf(VariantId).existing("variant").nullable,
  sortOrder: integer.default(0).about("Lower goes first.")
})
export type Ingredient = RowOf<typeof ingredients>

const withIngredients = document({ head: recipes, lines: ingredients })

const Ingredients = Schema.Array(inputOf(ingredients, {
  required: ["ingredientName", "quantity"],
  optional: ["unit", "costPerUnit", "entityId", "variantId"]
})).check(Schema.isBetweenLength(1, 200))
const New = Schema.Struct({
  ...inputOf(recipes, { required: ["entityId", "name"], optional: ["yieldQuantity", "isActive"] }).fields,
  ingredients: Ingredients.pipe(about("Materials of the dish."))
})
const Change = Schema.Struct({
  ...inputOf(recipes, { optional: ["name", "yieldQuantity", "isActive"] }).fields,
  ingredients: Schema.optional(Ingredients).pipe(about("Materials of the dish; they replace those before."))
})
const WithCosts = Schema.Struct({
  recipe: Schema.Struct(fieldsOf(recipes)),
  ingredients: Schema.Array(ingredients.Row).pipe(about("Materials of the dish.")),
  totalCost: MinorUnits,
  costPerUnit: Schema.Int.annotate({ description: "Cost of a unit of the dish, rounded." })
})

const costsOf = (yieldQuantity: number, all: ReadonlyArray<Ingredient>) => {
  const totalCost = all.reduce((sum, { costPerUnit, quantity }) => sum + costPerUnit * quantity, 0)
  return { totalCost, costPerUnit: Math.round(totalCost / yieldQuantity) }
}

const shown = Effect.fnUntraced(function*(db: PluginDatabase, id: string) {
  const { head, lines } = yield* db.use(withIngredients).get(id)
  const all = lines.toSorted((one, other) => one.sortOrder - other.sortOrder)
  return { recipe: head, ingredients: all, ...costsOf(head.yieldQuantity, all) }
})

const numbered = <A extends object>(given: ReadonlyArray<A>) => given.map((one, sortOrder) => ({ ...one, sortOrder }))

const replaceIngredients = Effect.fnUntraced(
  function*(db: PluginDatabase, recipeId: string, given: NonNullable<typeof Change.Type["ingredients"]>) {
    const before = yield* db.table(ingredients).list({ recipeId })
    yield* Effect.forEach(before, ({ id }) => db.table(ingredients).delete(id))
    yield* db.table(ingredients).insertMany(numbered(given).map((one) => ({ ...one, recipeId })))
  }
)

/** Recipes with their costs (contract-tills-channels §34). */
export const recipeRoutes = resource(routes, "/recipes", recipes, {
  noun: "recipe",
  read: admin,
  write: admin,
  filters: ["entityId", "isActive"],
  get: { success: WithCosts, answer: ({ db, params }) => shown(db, params.id) },
  create: {
    description: "409 when the entity has an active recipe. 422 for an unknown entity.",
    input: New,
    success: Schema.Struct({ ...WithCosts.fields, ...Struct.pick(fieldsOf(recipes), ["id", "name"]) }),
    answer: ({ db, input: { ingredients: given, ...head } }) =>
      Effect.gen(function*() {
        const made = yield* db.use(withIngredients).create(head, numbered(given))
        return { ...Struct.pick(made.head, ["id", "name"]), ...yield* shown(db, made.head.id) }
      })
  },
  patch: {
    description: "`ingredients` replaces all of them. 404 without it. 409 when the entity has an active recipe.",
    input: Change,
    success: WithCosts,
    answer: ({ db, input: { ingredients: given, ...change }, params }) =>
      db.transaction(Effect.gen(function*() {
        yield* db.table(recipes).update(params.id, change)
        if (given !== undefined) yield* replaceIngredients(db, params.id, given)
        return yield* shown(db, params.id)
      }))
  },
  remove: { success: Deleted, answer: ({ db, which }) => Effect.as(db.table(recipes).delete(which), deleted) }
})
