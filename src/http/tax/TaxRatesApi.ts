import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { NewTaxRate, TaxRate, TaxRateChange } from "../../domain/tax/TaxRate.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const one = { id: Uuid }
const managing = anyOf("tax:manage")
const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })

/** Taxes of regions (contract §3.5, §3.8). */
export const TaxRatesGroup = HttpApiGroup.make("taxRates").add(
  HttpApiEndpoint.get("list", "/api/tax/rates", { query: pageQuery, success: Page(TaxRate) })
    .annotate(Access, managing)
    .annotateMerge(summary("List tax rates by priority")),
  HttpApiEndpoint.post("create", "/api/tax/rates", {
    payload: NewTaxRate,
    success: Data(TaxRate).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Create a tax rate of a country or of a state",
      "Rates of the shipping address's state beat those of its country; all rates of that level are added up. 409 when " +
        "the region has one of this name."
    )),
  HttpApiEndpoint.get("read", "/api/tax/rates/:id", { params: one, success: Data(TaxRate) })
    .annotate(Access, managing)
    .annotateMerge(summary("Read a tax rate")),
  HttpApiEndpoint.patch("change", "/api/tax/rates/:id", { params: one, payload: TaxRateChange, success: Data(TaxRate) })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Change a tax rate", "A null state makes it the country's. Placed orders keep their tax.")),
  HttpApiEndpoint.delete("remove", "/api/tax/rates/:id", { params: one, success: Deleted })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Delete a tax rate"))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
