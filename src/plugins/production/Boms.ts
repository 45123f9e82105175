import { Effect } from "effect"
import { invalid, InvalidTransition, newId, type PluginDatabase } from "stoa/plugin"
import { Rational, Units } from "../uom/index.ts"
import { type Bom, type BomInput, type BomItem, boms, type ItemInput, items, type NextVersion } from "./Bom.ts"
import { maxDepth, waysThrough } from "./BomRepo.ts"
import { costsOf, grossOf, lineCost, minorUnits, recipesOf } from "./Recipe.ts"

class BomCycle extends invalid("BomCycle", "items", "items must not make the product a part of itself.") {}
class BomTooDeep extends invalid("BomTooDeep", "items", `items must not go deeper than ${maxDepth} levels.`) {}
class SubBomMismatch extends invalid(
  "SubBomMismatch",
  (line: number) => `items.${line}.subBomId`,
  (line) => `items.${line}.subBomId must be a bill of material of this entity and variant.`
) {}

type Given = typeof ItemInput.Type

/** Bills of material refer to one another, so the organization writes one at a time: two at once close no cycle. */
const alone = <A, E, R>(db: PluginDatabase, work: Effect.Effect<A, E, R>) =>
  db.transaction(Effect.andThen(db.turn("boms"), work))

/** Costs of lines; materials with the part that is lost when they are cleaned and cut. */
const lineCosts = <
  Item extends Pick<BomItem, "entityId" | "unitCost"> & {
    readonly quantity: string | number
    readonly subBomId?: string | null | undefined
  }
>(
  all: ReadonlyArray<Item>
) =>
  Effect.map(
    Units.use(({ known }) => known(all.map(({ entityId }) => entityId))),
    (known) =>
      all.map(({ entityId, quantity, subBomId, unitCost }) => {
        const net = Rational.of(quantity).times(unitCost)
        return typeof subBomId === "string" ? net : net.times(grossOf(known, entityId))
      })
  )

/** Writes lines of a bill of material. 422 for a cycle, too many levels, or a unit that cannot be converted. */
const addItems = Effect.fnUntraced(function*(db: PluginDatabase, bom: Bom, given: ReadonlyArray<Given>, from = 0) {
  const subs = yield* db.table(boms).list({ id: { in: given.flatMap(({ subBomId }) => subBomId ?? []) } })
  for (const [n, { entityId, subBomId = null, variantId = null }] of given.entries()) {
    const isSame = (of: Bom | undefined) => of?.entityId === entityId && of.variantId === variantId
    if (isSame(bom)) return yield* new BomCycle()
    if (subBomId !== null && !isSame(subs.find(({ id }) => id === subBomId))) return yield* new SubBomMismatch(n)
  }
  const costs = yield* lineCosts(given)
  const rows = yield* Effect.forEach(
    given,
    (item, n) =>
      Effect.map(minorUnits(costs[n] ?? Rational.of(0)), (totalCost) => ({
        ...item,
        bomId: bom.id,
        quantity: String(item.quantity),
        totalCost,
        sortOrder: from + n
      }))
  )
  const made = yield* db.table(items).insertMany(rows)
  const { depth, isCycle } = yield* db.use(waysThrough)(bom.id)
  if (isCycle) return yield* new BomCycle()
  if (depth > maxDepth) return yield* new BomTooDeep()
  // Refuses units that cannot be converted.
  yield* recipesOf(db, bom.id)
  return made
})

const withTotal = (db: PluginDatabase, { id }: Bom, all: ReadonlyArray<BomItem>) =>
  lineCosts(all).pipe(
    Effect.flatMap((costs) => minorUnits(costs.reduce((sum, cost) => sum.plus(cost), Rational.of(0)))),
    Effect.flatMap((totalCost) => db.table(boms).update(id, { totalCost }))
  )

export const itemsOf = (db: PluginDatabase, bomId: string) =>
  db.table(items).list({ bomId }, { order: ["sortOrder", "createdAt"] })

export const createBom = (db: PluginDatabase, { items: given, yieldQuantity = 1, ...rest }: typeof BomInput.Type) =>
  alone(
    db,
    Effect.gen(function*() {
      const id = newId()
      const head = { ...rest, id, familyId: id, yieldQuantity: String(yieldQuantity) }
      const bom = yield* db.table(boms).insert(head)
      const made = yield* addItems(db, bom, given)
      return { ...(yield* withTotal(db, bom, made)), items: made }
    })
  )

const activeBom = Effect.fnUntraced(function*(db: PluginDatabase, id: string) {
  const bom = yield* db.table(boms).get(id)
  return bom.isActive ? bom : yield* InvalidTransition.of("Only the active version of a bill of material changes.")
})

/** Adds a line to the active version. */
export const addItem = (db: PluginDatabase, id: string, given: Given) =>
  alone(
    db,
    Effect.gen(function*() {
      const bom = yield* activeBom(db, id)
      const before = yield* itemsOf(db, bom.id)
      const made = yield* addItems(db, bom, [given], (before.at(-1)?.sortOrder ?? -1) + 1)
      yield* withTotal(db, bom, [...before, ...made])
      return made[0] ?? (yield* Effect.die("no item"))
    })
  )

/** Makes the next version, with these lines and changes, the active one (contract, plugins §17.18). */
export const createVersion = (
  db: PluginDatabase,
  id: string,
  { items: given, yieldQuantity, ...change }: typeof NextVersion.Type
) =>
  alone(
    db,
    Effect.gen(function*() {
      const { createdAt: _, updatedAt: __, organizationId: ___, ...before } = yield* activeBom(db, id)
      yield* db.table(boms).update(before.id, { isActive: false })
      const output = yieldQuantity === undefined ? {} : { yieldQuantity: String(yieldQuantity) }
      const changed = { ...change, ...output, name: change.name ?? before.name }
      const next = { ...before, ...changed, id: newId(), version: before.version + 1 }
      const bom = yield* db.table(boms).insert(next)
      const made = yield* addItems(db, bom, given)
      return { ...(yield* withTotal(db, bom, made)), items: made }
    })
  )

/** Writes what everything below costs into the lines that use it, and what each bill of material costs in total. */
export const rollUp = (db: PluginDatabase, id: string) =>
  alone(
    db,
    Effect.gen(function*() {
      const { recipes } = yield* recipesOf(db, id)
      const costs = costsOf(recipes)
      const outputs = new Map(recipes.map(({ bom, output }) => [bom.id, output]))
      const used = recipes.flatMap(({ lines }) => lines.filter(({ subBomId }) => subBomId !== undefined))
      const lines = yield* Effect.forEach(used, (line) => {
        const cost = lineCost(line, costs, outputs)
        const [unitCost, totalCost] = [minorUnits(cost.per(line.item.quantity)), minorUnits(cost)]
        return Effect.all({ id: Effect.succeed(line.item.id), unitCost, totalCost })
      })
      const totals = yield* Effect.forEach(costs, ([id, cost]) =>
        Effect.map(minorUnits(cost), (totalCost) => ({ id, totalCost })))
      yield* db.table(items).updateEach(lines)
      yield* db.table(boms).updateEach(totals)
      const bom = yield* db.table(boms).get(id)
      return { ...bom, items: yield* itemsOf(db, bom.id) }
    })
  )
