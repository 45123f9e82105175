import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { NewTaxClass, TaxClass, TaxClassChange } from "../../domain/tax/TaxClass.ts"
import { NewTaxRate, TaxRate, TaxRateChange } from "../../domain/tax/TaxRate.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const one = { id: Uuid }
const managing = anyOf("tax:manage")
const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })

/** Classes of goods that are taxed alike (contract §3.5, §3.8). */
export const TaxClassesGroup = HttpApiGroup.make("taxClasses").add(
  HttpApiEndpoint.get("list", "/api/tax/classes", { query: pageQuery, success: Page(TaxClass) })
    .annotateMerge(summary("List tax classes by name")),
  HttpApiEndpoint.post("create", "/api/tax/classes", {
    payload: NewTaxClass,
    success: Data(TaxClass).pipe(HttpApiSchema.status(201))
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Create a tax class",
      "Entities and variants name it as their taxClass. As the default it takes the place of the one before. As soon " +
        "as a store has an active class, the rates of regions are not asked any more. 409 when its name is taken."
    )),
  HttpApiEndpoint.get("read", "/api/tax/classes/:id", { params: one, success: Data(TaxClass) })
    .annotateMerge(summary("Read a tax class")),
  HttpApiEndpoint.patch("change", "/api/tax/classes/:id", {
    params: one,
    payload: TaxClassChange,
    success: Data(TaxClass)
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Change a tax class", "Orders that were placed keep their tax.")),
  HttpApiEndpoint.delete("remove", "/api/tax/classes/:id", { params: one, success: Deleted })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Delete a tax class", "What names it is taxed like the default class from then on."))
)
  .annotateEndpoints(Access, managing)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

/** Taxes of regions (contract §3.5, §3.8). */
export const TaxRatesGroup = HttpApiGroup.make("taxRates").add(
  HttpApiEndpoint.get("list", "/api/tax/rates", { query: pageQuery, success: Page(TaxRate) })
    .annotateMerge(summary("List tax rates by priority")),
  HttpApiEndpoint.post("create", "/api/tax/rates", {
    payload: NewTaxRate,
    success: Data(TaxRate).pipe(HttpApiSchema.status(201))
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Create a tax rate of a country or of a state",
      "Rates of the shipping address's state beat those of its country; all rates of that level are added up. 409 when " +
        "the region has one of this name."
    )),
  HttpApiEndpoint.get("read", "/api/tax/rates/:id", { params: one, success: Data(TaxRate) })
    .annotateMerge(summary("Read a tax rate")),
  HttpApiEndpoint.patch("change", "/api/tax/rates/:id", { params: one, payload: TaxRateChange, success: Data(TaxRate) })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Change a tax rate", "A null state makes it the country's. Placed orders keep their tax.")),
  HttpApiEndpoint.delete("remove", "/api/tax/rates/:id", { params: one, success: Deleted })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Delete a tax rate"))
)
  .annotateEndpoints(Access, managing)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
