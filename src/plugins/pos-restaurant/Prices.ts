import { DateTime, Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import {
  type ConditionalPricing,
  CurrentActor,
  type EntityId,
  holds,
  HookRefusal,
  type LinePricing,
  type PluginContext,
  type PriceStep
} from "stoa/plugin"
import { Pos } from "../pos/index.ts"
import { choose, type Chosen, fromZero } from "./Choosing.ts"
import { guestsOf } from "./Guests.ts"
import { type Dish, dishesOf, firedUnitsOf } from "./MenuRepo.ts"
import { comboIn, modifiersIn } from "./Parts.ts"
import { isOnMenu, operate, type RestaurantSettings } from "./RestaurantOptions.ts"

type Request = Parameters<LinePricing>[0]
type Line = Request["lines"][number]

/** A line with what the menu says of it. */
interface Served {
  readonly steps: ReadonlyArray<PriceStep>
  readonly problem: string | undefined
  /** Itself, and the items of its combo. */
  readonly entityIds: ReadonlyArray<EntityId>
}

const maxChoices = 40
const titleOf = ({ title }: Pick<Dish, "title">) => `“${title ?? "this item"}”`

const chosenItems = (metadata: Line["metadata"]): ReadonlyArray<Chosen> | undefined => {
  const items = comboIn(metadata)
  return items && Array.from(
    Map.groupBy(items, ({ groupId }) => groupId),
    ([groupId, all]) => ({ groupId, ids: all.map(({ itemId }) => itemId) })
  )
}

const chosenOptions = (metadata: Line["metadata"]): ReadonlyArray<Chosen> | undefined =>
  modifiersIn(metadata)?.map(({ groupId, optionIds }) => ({ groupId, ids: optionIds }))

const step =
  (code: string) => ({ name, priceAdjustment }: { readonly name: string; readonly priceAdjustment: number }) => ({
    code,
    label: name,
    amountPerUnit: priceAdjustment
  })

/** What a line comes to by its combo and modifiers. */
const served = (
  { entityId, metadata, unitPrice }: Line,
  dish: Dish,
  isForeign: boolean,
  hasModifiers: boolean
): Served => {
  const of = titleOf(dish)
  const { combo } = dish
  const items = choose(combo?.groups ?? [], chosenItems(metadata), {
    field: "combo",
    form: "[{ groupId, itemId }]",
    of
  })
  const options = hasModifiers
    ? choose(dish.modifiers, chosenOptions(metadata), { field: "modifiers", form: "[{ groupId, optionIds }]", of })
    : { choices: [], problem: undefined }
  const own = combo === null || combo.price === null
    ? []
    : [step("combo")({ name: combo.name, priceAdjustment: combo.price - unitPrice })]
  const steps = fromZero(unitPrice, [
    ...own,
    ...items.choices.map(step("combo-item")),
    ...options.choices.map(step("modifier"))
  ])
  const problem = items.problem ?? options.problem ??
    (steps.length > maxChoices ? `Choose at most ${maxChoices} things for ${of}.` : undefined) ??
    (isForeign && steps.some(({ amountPerUnit }) => amountPerUnit !== 0)
      ? `The choices of ${of} have prices in the currency of the store only.`
      : undefined)
  const parts = items.choices.flatMap((choice) => choice.entityId ?? [])
  return { steps: steps.slice(0, maxChoices), problem, entityIds: [entityId, ...parts] }
}

/** Says why lines cannot be sold: what they name, what is not available, or that they want more together than is left. */
const problemOf = (
  lines: ReadonlyArray<Line>,
  all: ReadonlyArray<Served>,
  dishes: ReadonlyMap<EntityId, Dish>
): string | undefined => {
  const wanted = new Map<EntityId, number>()
  for (const [index, { quantity }] of lines.entries()) {
    for (const id of all[index]?.entityIds ?? []) wanted.set(id, (wanted.get(id) ?? 0) + quantity)
  }
  const wrong = lines.flatMap(({ quantity }, index) => quantity === 0 ? [] : all[index]?.problem ?? [])
  const short = Array.from(wanted).flatMap(([id, units]) => {
    const dish = dishes.get(id)
    if (dish === undefined || units === 0) return []
    const { isAvailable, remaining } = dish
    if (!isAvailable || remaining === 0) return [`${titleOf(dish)} is not available.`]
    return remaining !== null && units > remaining ? [`Only ${remaining} of ${titleOf(dish)} are left.`] : []
  })
  return [...wrong, ...short][0]
}

type FiredLine = Effect.Success<ReturnType<ReturnType<typeof firedUnitsOf["on"]>>>[number]

/** Lines without the units that the kitchen has: those can be paid in any case. */
const withoutFired = (lines: ReadonlyArray<Line>, fired: ReadonlyArray<FiredLine>): ReadonlyArray<Line> => {
  const left = fired.map((one) => ({ ...one }))
  return lines.map((line) => {
    let { quantity } = line
    for (const one of left) {
      if (one.entityId !== line.entityId || one.variantId !== line.variantId) continue
      if (!isDeepStrictEqual(one.metadata, line.metadata)) continue
      const units = Math.min(quantity, one.units)
      one.units -= units
      quantity -= units
    }
    return { ...line, quantity }
  })
}

const perUnit = (steps: ReadonlyArray<PriceStep>) =>
  steps.reduce((sum, { amountPerUnit = 0 }) => sum + amountPerUnit, 0)

const serviceStep = ({ quantity, unitPrice }: Line, steps: ReadonlyArray<PriceStep>, percent: number): PriceStep => ({
  code: "service-charge",
  label: `Service ${percent} %`,
  amountPerLine: Math.round((unitPrice + perUnit(steps)) * quantity * Math.round(percent * 100) / 10_000)
})

const isTaken = (orderType: unknown) => orderType === "takeaway" || orderType === "delivery"

/**
 * Prices of a menu: combos, modifiers, the tax of food to take away and the service charge of large tables. Refuses what a dish does
 * not offer and what is not available. One statement for all lines, and two for a table with a service charge.
 */
export const menuPrices = (settings: RestaurantSettings, { config, db }: PluginContext) =>
  Effect.map(Pos, (pos) => {
    const { enableModifiers, serviceCharge } = settings
    const onMenu = isOnMenu(settings)
    /** Shoppers may write anything into the metadata of their cart. */
    const saleIn = ({ posTransactionId }: Request["metadata"]) =>
      Effect.map(CurrentActor, (actor) =>
        typeof posTransactionId === "string" && holds(actor, operate) ? posTransactionId : undefined)

    const chargeOf = Effect.fnUntraced(function*(orderType: unknown, posTransactionId: string | undefined) {
      if (serviceCharge === undefined || orderType !== "dine_in" || posTransactionId === undefined) {
        return 0
      }
      const guests = yield* Effect.provideService(guestsOf(db, [posTransactionId]), Pos, pos)
      return (guests.get(posTransactionId) ?? 0) >= serviceCharge.fromGuests ? serviceCharge.percent : 0
    })

    const refusalOf = Effect.fnUntraced(function*(
      lines: ReadonlyArray<Line>,
      all: ReadonlyArray<Served>,
      dishes: ReadonlyMap<EntityId, Dish>,
      transactionId: string | undefined
    ) {
      const problem = problemOf(lines, all, dishes)
      if (problem === undefined || transactionId === undefined) {
        return problem
      }
      return problemOf(withoutFired(lines, yield* db.use(firedUnitsOf)(transactionId)), all, dishes)
    })

    const price: LinePricing = Effect.fn("Menu.prices")(function*({ currency, isList, lines, metadata }) {
      const offered = lines.filter(onMenu)
      const itemIds = offered.flatMap((line) =>
        comboIn(line.metadata) ?? []
      ).map(({ itemId }) => itemId)
      const entityIds = offered.map(({ entityId }) => entityId)
      const found = offered.length === 0 ? [] : yield* db.use(dishesOf)(entityIds, itemIds, yield* DateTime.nowAsDate)
      const dishes = new Map(found.map((dish) => [dish.id, dish]))
      const isForeign = currency !== config.defaultCurrency
      const all = lines.map((line): Served => {
        const dish = dishes.get(line.entityId)
        return dish === undefined
          ? { steps: [], problem: undefined, entityIds: [] }
          : served(line, dish, isForeign, enableModifiers)
      })
      const saleId = yield* saleIn(metadata)
      const problem = isList ? undefined : yield* refusalOf(lines, all, dishes, saleId)
      if (problem !== undefined) return yield* Effect.fail(new HookRefusal(problem))
      const percent = yield* chargeOf(metadata["orderType"], saleId)
      return lines.map((line, index) => {
        const steps = all[index]?.steps ?? []
        const taxClass = isTaken(metadata["orderType"]) ? dishes.get(line.entityId)?.taxClassTakeaway ?? null : null
        return [
          ...steps,
          ...(taxClass === null ? [] : [{ code: "takeaway", label: "To take away", taxClass }]),
          ...(percent === 0 || !onMenu(line) ? [] : [serviceStep(line, steps, percent)])
        ]
      })
    })
    const concerns: ConditionalPricing["concerns"] = ({ lines }) => lines.some(onMenu)
    return { concerns, price }
  })
