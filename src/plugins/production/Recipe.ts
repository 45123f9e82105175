import { Effect } from "effect"
import { type EntityId, invalid, type PluginDatabase, type VariantId } from "stoa/plugin"
import { type KnownUnits, Rational, Units } from "../uom/index.ts"
import { type Bom, type BomItem, boms, items } from "./Bom.ts"
import { bomsBelow } from "./BomRepo.ts"

/** Goods that have stock. */
export interface Goods {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
}
export const keyOf = ({ entityId, variantId }: Goods): string => variantId ?? entityId

/** Units that leave stock for one unit of a material after it is cleaned and cut (`yieldPercentage` of its units). */
export const grossOf = (known: KnownUnits, entityId: EntityId): Rational =>
  Rational.of(100).per(known.of(entityId)?.yieldPercentage ?? 100)

/** A line of a recipe in stock units of its goods, as they leave stock. */
interface Line {
  readonly item: BomItem
  readonly quantity: Rational
  /** Its cost, unless something below makes it. */
  readonly cost: Rational
  /** The active bill of material that makes it. */
  readonly subBomId: string | undefined
}

/** A bill of material with how many stock units of its product one run makes. */
export interface Recipe {
  readonly bom: Bom
  readonly output: Rational
  readonly lines: ReadonlyArray<Line>
}

/** A recipe and those below it, each after all that use it. */
export type Recipes = readonly [Recipe, ...ReadonlyArray<Recipe>]

class NotConvertible extends invalid(
  "NotConvertible",
  (path: string) => path,
  (path) => `${path} must be a unit with a conversion to the stock unit of the goods.`
) {}

class TooHigh extends invalid("TooHigh", (path: string) => path, (path) => `${path} makes a sum that is too high.`) {}

const safe = (whole: number, path: string): Effect.Effect<number, TooHigh> =>
  whole > Number.MAX_SAFE_INTEGER ? Effect.fail(new TooHigh(path)) : Effect.succeed(whole)

/** Whole minor units. */
export const minorUnits = (exact: Rational) => safe(exact.round(), "unitCost")

/** Whole stock units, rounded up. */
export const stockUnitsOf = (exact: Rational) => safe(exact.ceil(), "quantity")

/** Says how many stock units one of a unit is. Goods without a stock unit are kept in the first unit that recipes name. */
const stockUnits = (known: KnownUnits) => {
  const named = new Map<EntityId, string>()
  return (entityId: EntityId, uomId: string | null, path: string) => {
    if (uomId === null) return Effect.succeed(Rational.of(1))
    const to = known.of(entityId)?.stockUomId ?? named.get(entityId) ?? uomId
    named.set(entityId, to)
    const factor: Rational | undefined = known.has(uomId) ? known.convert(1, { from: uomId, to }, entityId) : undefined
    return factor === undefined ? Effect.fail(new NotConvertible(path)) : Effect.succeed(factor)
  }
}

/** Reads a bill of material and all below it in a constant number of statements; 404 without it. */
export const recipesOf = Effect.fn("Recipe.read")(function*(db: PluginDatabase, bomId: string) {
  const first = yield* db.table(boms).get(bomId)
  const ids = yield* db.use(bomsBelow)(first.id)
  const found = new Map((yield* db.table(boms).list({ id: { in: ids } })).map((bom) => [bom.id, bom]))
  const rows = yield* db.table(items).list({ bomId: { in: ids } }, { order: ["sortOrder", "createdAt"] })
  const named = rows.flatMap(({ subBomId }) => subBomId ?? [])
  const versions = yield* db.table(boms).list({ id: { in: named } })
  const families = new Map(versions.map(({ familyId, id }) => [id, familyId]))
  const active = new Map([...found.values()].flatMap(({ familyId, id, isActive }) => isActive ? [[familyId, id]] : []))
  const known = yield* Units.use((units) => units.known([...found.values(), ...rows].map(({ entityId }) => entityId)))
  const inStock = stockUnits(known)
  const byBom = Map.groupBy(rows, (item) => item.bomId)

  const recipe = Effect.fnUntraced(function*(bom: Bom) {
    const lines = yield* Effect.forEach(
      byBom.get(bom.id) ?? [],
      (item, n) =>
        Effect.map(inStock(item.entityId, item.uomId, `items.${n}.uomId`), (factor): Line => {
          const gross = item.subBomId === null ? grossOf(known, item.entityId).times(item.quantity) : item.quantity
          return {
            item,
            quantity: factor.times(gross),
            cost: Rational.of(item.unitCost).times(gross),
            subBomId: item.subBomId === null ? undefined : active.get(families.get(item.subBomId) ?? "")
          }
        })
    )
    const output = yield* inStock(bom.entityId, bom.yieldUomId, "yieldUomId")
    return { bom, output: output.times(bom.yieldQuantity), lines } satisfies Recipe
  })
  const [head, ...others] = yield* Effect.forEach(ids.flatMap((id) => found.get(id) ?? []), recipe)
  const recipes: Recipes = [head ?? (yield* recipe(first)), ...others]
  return { recipes, stockUnitOf: (entityId: EntityId) => known.of(entityId)?.stockUomId ?? null }
})

/** What one run of each recipe costs, in minor units: exactly what its materials cost, through all levels. */
export const costsOf = (recipes: Recipes): ReadonlyMap<string, Rational> => {
  const costs = new Map<string, Rational>()
  const outputs = new Map(recipes.map(({ bom, output }) => [bom.id, output]))
  for (const { bom, lines } of recipes.toReversed()) {
    const cost = lines.reduce((sum, line) => sum.plus(lineCost(line, costs, outputs)), Rational.of(0))
    costs.set(bom.id, cost)
  }
  return costs
}

/** What a line of one run costs. */
export const lineCost = (
  { cost: known, quantity, subBomId }: Line,
  costs: ReadonlyMap<string, Rational>,
  outputs: ReadonlyMap<string, Rational>
): Rational => {
  const [cost, output] = [costs.get(subBomId ?? ""), outputs.get(subBomId ?? "")]
  return cost === undefined || output === undefined
    ? known
    : quantity.times(cost).per(output)
}

/** An exact quantity of goods in stock units, and what the recipes say that all of it costs. */
export interface Material extends Goods {
  readonly itemName: string
  readonly quantity: Rational
  readonly cost: Rational
}

class Sum<Key> extends Map<Key, Rational> {
  add(key: Key, value: Rational): void {
    this.set(key, this.get(key)?.plus(value) ?? value)
  }
}

/**
 * The materials of so many stock units of the product, exact through all levels and merged by goods (contract, plugins §7).
 * Of sub-assemblies it takes what `inStock` says is there, and the materials of the rest.
 */
export const explode = (
  recipes: Recipes,
  quantity: number,
  inStock: (goods: Goods) => number = () => 0
): ReadonlyArray<Material> => {
  const [[first], costs, materials] = [recipes, costsOf(recipes), new Map<string, Material>()]
  const add = ({ entityId, itemName, variantId }: BomItem, quantity: Rational, cost: Rational) => {
    const key = keyOf({ entityId, variantId })
    const before = materials.get(key)
    const sum = { quantity: before?.quantity.plus(quantity) ?? quantity, cost: before?.cost.plus(cost) ?? cost }
    materials.set(key, { entityId, variantId, itemName: before?.itemName ?? itemName, ...sum })
  }
  const made = new Sum<string>([[first.bom.id, Rational.of(quantity)]])
  const assemblies = new Map<string, BomItem>()
  const wanted = new Sum<string>()
  for (const { bom, lines, output } of recipes) {
    const [want, item] = [wanted.get(bom.id), assemblies.get(bom.id)]
    if (want !== undefined && item !== undefined) {
      const taken = Math.min(inStock(item), want.ceil())
      if (taken > 0) add(item, Rational.of(taken), Rational.of(taken).times(costs.get(bom.id) ?? 0).per(output))
      const rest = want.minus(taken)
      if (rest.isPositive) made.add(bom.id, rest)
    }
    const runs = (made.get(bom.id) ?? Rational.of(0)).per(output)
    if (!runs.isPositive) continue
    for (const { cost, item, quantity, subBomId } of lines) {
      const needed = quantity.times(runs)
      if (subBomId === undefined) add(item, needed, cost.times(runs))
      else if (!item.isSubAssembly) made.add(subBomId, needed)
      else {
        assemblies.set(subBomId, item)
        wanted.add(subBomId, needed)
      }
    }
  }
  return [...materials.values()]
}
