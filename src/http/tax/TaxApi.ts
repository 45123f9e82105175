import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { NewTaxClass, TaxClass, TaxClassChange } from "../../domain/tax/TaxClass.ts"
import { NewTaxRate, TaxRate, TaxRateChange } from "../../domain/tax/TaxRate.ts"
import { changes, creates, guarded, lists, reads, removes } from "../endpoint/Resource.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"

const classes = "/api/tax/classes"
const rates = "/api/tax/rates"
const managing = anyOf("tax:manage")

/** Tax classes (contract §3.5, §3.8). */
export const TaxClassesGroup = guarded(
  "taxClasses",
  lists("list", classes, TaxClass, "List tax classes by name"),
  creates(
    "create",
    classes,
    NewTaxClass,
    TaxClass,
    "Create a tax class",
    "Entities and variants name it as their taxClass, by its slug or id. Its rate is for places without a tax rate. As " +
      "the default it takes the place of the one before. 409 when its name is taken."
  ),
  reads("read", `${classes}/:id`, TaxClass, "Get a tax class"),
  changes(
    "change",
    `${classes}/:id`,
    TaxClassChange,
    TaxClass,
    "Change a tax class",
    "What names the class keeps it under a new name. Orders that were placed keep their tax."
  ),
  removes(
    "remove",
    `${classes}/:id`,
    "Delete a tax class",
    "409 with the number of uses while entities, variants, tax rates or shipping rates name it."
  )
).annotateEndpoints(Access, managing).annotateEndpoints(StrictBody, true)

/** Taxes by class and region (contract-commerce §5). */
export const TaxRatesGroup = guarded(
  "taxRates",
  lists("list", rates, TaxRate, "List tax rates by priority"),
  creates(
    "create",
    rates,
    NewTaxRate,
    TaxRate,
    "Create a tax rate of a class, a place or both",
    "The most specific rates apply: of class and place, of the place, of the class, the rest. Of a place, the narrower " +
      "postal code beats the wider, this one the state, and the state the country; rates that are equally specific are " +
      "added up. 409 when place, class and time have one of this name."
  ),
  reads("read", `${rates}/:id`, TaxRate, "Get a tax rate"),
  changes(
    "change",
    `${rates}/:id`,
    TaxRateChange,
    TaxRate,
    "Change a tax rate",
    "Null takes the class, the place or the end away. Placed orders keep their tax."
  ),
  removes("remove", `${rates}/:id`, "Delete a tax rate")
).annotateEndpoints(Access, managing).annotateEndpoints(StrictBody, true)
