import { Layer, Schema } from "effect"
import { option, pluginWith, text } from "stoa/plugin"
import { salePrices } from "./SalePrices.ts"
import { uomRoutes } from "./UnitRoutes.ts"
import { StockUnitUses, Units } from "./Units.ts"
import { conversions, entityUnits, units } from "./UnitTables.ts"

export { type Exact, Rational } from "./Rational.ts"
export {
  type KnownUnits,
  purchaseQuantity,
  type StockQuantity,
  type StockUnitUse,
  StockUnitUses,
  type UnitLine,
  Units
} from "./Units.ts"
export { units } from "./UnitTables.ts"

const UnitSettings = Schema.Struct({
  pricedBySaleUnit: option(Schema.Array(text.schema), {
    default: [],
    description: "Types of entities whose prices are for one sale unit, such as a kg, while lines count stock units"
  })
})

/** Units of measure, exact conversions, and the units of entities (contract, plugins §4), with options. */
export const unitsOfMeasure = pluginWith("uom", UnitSettings, ({ pricedBySaleUnit }) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "uom:admin", description: "Write units of measure and conversions" },
    { scope: "uom:read", description: "Read units of measure and convert" }
  ],
  schema: () => ({ units, conversions, entityUnits }),
  layer: Layer.merge(Units.layer, StockUnitUses.layer),
  exports: [Units, StockUnitUses],
  routes: () => uomRoutes,
  // A plugin that prices lines is asked for each of them.
  ...(pricedBySaleUnit.length > 0 && { linePricing: () => salePrices(pricedBySaleUnit) })
}))

/** The same without options: `plugins: [uom]`. */
export const uom = unitsOfMeasure()
