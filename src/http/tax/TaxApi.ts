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
    "Entities and variants name it as their taxClass. As the default it takes the place of the one before. As soon " +
      "as a store has an active class, the rates of regions are not asked any more. 409 when its name is taken."
  ),
  reads("read", `${classes}/:id`, TaxClass, "Read a tax class"),
  changes(
    "change",
    `${classes}/:id`,
    TaxClassChange,
    TaxClass,
    "Change a tax class",
    "Orders that were placed keep their tax."
  ),
  removes(
    "remove",
    `${classes}/:id`,
    "Delete a tax class",
    "What names it is taxed like the default class from then on."
  )
).annotateEndpoints(Access, managing).annotateEndpoints(StrictBody, true)

/** Taxes of regions (contract §3.5, §3.8). */
export const TaxRatesGroup = guarded(
  "taxRates",
  lists("list", rates, TaxRate, "List tax rates by priority"),
  creates(
    "create",
    rates,
    NewTaxRate,
    TaxRate,
    "Create a tax rate of a country or of a state",
    "Rates of the shipping address's state beat those of its country; all rates of that level are added up. 409 when " +
      "the region has one of this name."
  ),
  reads("read", `${rates}/:id`, TaxRate, "Read a tax rate"),
  changes(
    "change",
    `${rates}/:id`,
    TaxRateChange,
    TaxRate,
    "Change a tax rate",
    "A null state makes it the country's. Placed orders keep their tax."
  ),
  removes("remove", `${rates}/:id`, "Delete a tax rate")
).annotateEndpoints(Access, managing).annotateEndpoints(StrictBody, true)
