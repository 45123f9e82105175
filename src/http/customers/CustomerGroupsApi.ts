import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Customer } from "../../domain/customers/Customer.ts"
import { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "../../domain/customers/CustomerGroup.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const group = { groupId: Uuid }
const member = { groupId: Uuid, customerId: Uuid }
const reading = anyOf("customers:read", "customers:update")
const writing = anyOf("customers:update")

/** Response of joining and leaving, which are idempotent. */
const Membership = Data(Schema.Struct({ member: Schema.Boolean }))

/** Groups of customers, which prices and promotions reference (contract, platform §8). */
export const CustomerGroupsGroup = HttpApiGroup.make("customerGroups").add(
  HttpApiEndpoint.get("list", "/api/customers/groups", { query: pageQuery, success: Page(CustomerGroup) })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "List customer groups by name" })),
  HttpApiEndpoint.post("create", "/api/customers/groups", {
    payload: NewCustomerGroup,
    success: Data(CustomerGroup).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Create a customer group; 409 when its name is taken" })),
  HttpApiEndpoint.get("read", "/api/customers/groups/:groupId", { params: group, success: Data(CustomerGroup) })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "Read a customer group" })),
  HttpApiEndpoint.patch("change", "/api/customers/groups/:groupId", {
    params: group,
    payload: CustomerGroupChange,
    success: Data(CustomerGroup)
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a customer group; null clears a field" })),
  HttpApiEndpoint.delete("remove", "/api/customers/groups/:groupId", { params: group, success: Deleted })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Delete a customer group; 409 while it has members" })),
  HttpApiEndpoint.get("members", "/api/customers/groups/:groupId/members", {
    params: group,
    query: pageQuery,
    success: Page(Customer)
  })
    .annotate(Access, anyOf("customers:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List the customers in a group, last joined first" })),
  HttpApiEndpoint.post("join", "/api/customers/groups/:groupId/members/:customerId", {
    params: member,
    success: Membership
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Add a customer to a group" })),
  HttpApiEndpoint.delete("leave", "/api/customers/groups/:groupId/members/:customerId", {
    params: member,
    success: Membership
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Remove a customer from a group" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
