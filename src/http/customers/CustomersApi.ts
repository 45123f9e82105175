import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, allOf, anyOf } from "../../domain/access/AccessRule.ts"
import { Customer, CustomerChange, NewCustomer } from "../../domain/customers/Customer.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const customer = { id: Uuid }

/** Customers for staff (contract, platform §8). */
export const CustomersGroup = HttpApiGroup.make("customers").add(
  HttpApiEndpoint.get("list", "/api/customers", { query: pageQuery, success: Page(Customer) })
    .annotate(Access, anyOf("customers:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List customers, newest first" })),
  HttpApiEndpoint.post("create", "/api/customers", {
    payload: NewCustomer,
    success: Data(Customer).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, allOf("customers:read", "customers:create"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Create a customer",
      description: "A customer without userId is a walk-in without a login. 409 when the login has a profile."
    })),
  HttpApiEndpoint.get("read", "/api/customers/:id", { params: customer, success: Data(Customer) })
    .annotate(Access, anyOf("customers:read"))
    .annotateMerge(OpenApi.annotations({ summary: "Read a customer" })),
  HttpApiEndpoint.patch("change", "/api/customers/:id", {
    params: customer,
    query: {
      metadataReplace: Schema.optional(
        Schema.String.annotate({ description: "true: replaces all metadata instead of merging into it." })
      )
    },
    payload: CustomerChange,
    success: Data(Customer)
  })
    .annotate(Access, allOf("customers:read", "customers:update"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a customer; null clears a field" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
