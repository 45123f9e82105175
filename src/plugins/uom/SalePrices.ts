import { Effect } from "effect"
import type { ConditionalPricing, LinesToPrice, PriceStep } from "stoa/plugin"
import { type KnownUnits, Units } from "./Units.ts"

type Line = LinesToPrice["lines"][number]

/** Brings a price of one sale unit to what the stock units of a line come to: rounded once, half a minor unit up. */
const stepsOf = (known: KnownUnits, { entityId, quantity, unitPrice }: Line): ReadonlyArray<PriceStep> => {
  const { saleUomId, stockUomId } = known.of(entityId) ?? {}
  if (saleUomId === undefined || stockUomId === undefined || saleUomId === stockUomId) return []
  const sold = known.convert(quantity, { from: stockUomId, to: saleUomId }, entityId)
  if (sold === undefined) return []
  const total = sold.times(unitPrice).round()
  const each = Math.floor(total / quantity)
  const label = `${sold.decimal(6)} ${known.codeOf(saleUomId) ?? ""}`
  return [{ code: "sale-unit", label, amountPerUnit: each - unitPrice, amountPerLine: total - each * quantity }]
}

/**
 * Prices of entities of these types are for one sale unit, while lines and stock count stock units: 500 g of what costs
 * 19.90 a kg come to 9.95. Three statements for all lines, none where no line is of these types.
 */
export const salePrices = (types: ReadonlyArray<string>) =>
  Effect.map(Units, (units): ConditionalPricing => ({
    concerns: ({ lines }) => lines.some(({ entityType }) => types.includes(entityType)),
    price: Effect.fnUntraced(function*({ lines }) {
      const priced = lines.filter(({ entityType }) => types.includes(entityType))
      const known = yield* units.known(priced.map(({ entityId }) => entityId))
      return lines.map((line) => types.includes(line.entityType) ? stepsOf(known, line) : [])
    })
  }))
