import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, allOf, anyOf } from "../../domain/access/AccessRule.ts"
import { Address } from "../../domain/customers/Address.ts"
import { Customer, CustomerChange, NewCustomer } from "../../domain/customers/Customer.ts"
import { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "../../domain/customers/CustomerGroup.ts"
import { Interaction, InteractionChange, NewInteraction } from "../../domain/customers/Interaction.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { CustomerTotals } from "../../domain/orders/CustomerTotals.ts"
import { Order } from "../../domain/orders/Order.ts"
import { type PageOf, pageQuery, Pagination, paginationOf } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
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

const group = { groupId: Uuid }
const member = { groupId: Uuid, customerId: Uuid }
const readingGroups = anyOf("customers:read", "customers:update")
const managing = anyOf("customers:update")

/** Response of joining and leaving, which are idempotent. */
const Membership = Data(Schema.Struct({ member: Schema.Boolean }))

/** Groups of customers, which prices and promotions reference (contract, platform §8). */
export const CustomerGroupsGroup = HttpApiGroup.make("customerGroups").add(
  HttpApiEndpoint.get("list", "/api/customers/groups", { query: pageQuery, success: Page(CustomerGroup) })
    .annotate(Access, readingGroups)
    .annotateMerge(OpenApi.annotations({ summary: "List customer groups by name" })),
  HttpApiEndpoint.post("create", "/api/customers/groups", {
    payload: NewCustomerGroup,
    success: Data(CustomerGroup).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Create a customer group; 409 when its name is taken" })),
  HttpApiEndpoint.get("read", "/api/customers/groups/:groupId", { params: group, success: Data(CustomerGroup) })
    .annotate(Access, readingGroups)
    .annotateMerge(OpenApi.annotations({ summary: "Read a customer group" })),
  HttpApiEndpoint.patch("change", "/api/customers/groups/:groupId", {
    params: group,
    payload: CustomerGroupChange,
    success: Data(CustomerGroup)
  })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a customer group; null clears a field" })),
  HttpApiEndpoint.delete("remove", "/api/customers/groups/:groupId", { params: group, success: Deleted })
    .annotate(Access, managing)
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
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Add a customer to a group" })),
  HttpApiEndpoint.delete("leave", "/api/customers/groups/:groupId/members/:customerId", {
    params: member,
    success: Membership
  })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Remove a customer from a group" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

const interaction = { id: Uuid, interactionId: Uuid }
const reading = anyOf("customers:read")
const writing = allOf("customers:read", "customers:update")

/** A page of orders with the totals of all of them. */
interface OrdersWithTotals extends PageOf<Order> {
  readonly totals: CustomerTotals
}

const orders = Schema.Array(Schema.toType(Order).annotate({ identifier: undefined }))
const totals = Schema.toType(CustomerTotals).annotate({ identifier: undefined })

/** With `include=totals` the data are `{ items, totals }` instead of the list alone (contract, platform §8). */
const PageWithTotals = Schema.Struct({
  data: Schema.Struct({ items: Schema.Array(Order), totals: CustomerTotals }),
  meta: Schema.Struct({ pagination: Pagination })
}).pipe(
  Schema.decodeTo(
    Schema.Struct({ items: orders, totals, page: Schema.Int, limit: Schema.Int, total: Schema.Int }),
    {
      decode: SchemaGetter.transform(({ data, meta: { pagination } }): OrdersWithTotals => ({
        ...data,
        page: pagination.page,
        limit: pagination.limit,
        total: pagination.total
      })),
      encode: SchemaGetter.transform(({ items, totals, ...page }: OrdersWithTotals) => ({
        data: { items: [...items], totals },
        meta: { pagination: paginationOf(page) }
      }))
    }
  )
)

/** Records of one customer for staff (contract, platform §8). */
export const CustomerRecordsGroup = HttpApiGroup.make("customerRecords").add(
  HttpApiEndpoint.get("addresses", "/api/customers/:id/addresses", {
    params: customer,
    query: pageQuery,
    success: Page(Address)
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "List a customer's addresses, oldest first" })),
  HttpApiEndpoint.get("orders", "/api/customers/:id/orders", {
    params: customer,
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." })),
      include: Schema.optional(Schema.String.annotate({ description: "totals: adds the sums of all orders." }))
    },
    success: Schema.Union([PageWithTotals, Page(Order)])
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "List a customer's orders with their lines, newest first" })),
  HttpApiEndpoint.get("interactions", "/api/customers/:id/interactions", {
    params: customer,
    query: pageQuery,
    success: Page(Interaction)
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "List staff notes about a customer, newest first" })),
  HttpApiEndpoint.post("addInteraction", "/api/customers/:id/interactions", {
    params: customer,
    payload: NewInteraction,
    success: Data(Interaction).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Create a note about a customer" })),
  HttpApiEndpoint.patch("changeInteraction", "/api/customers/:id/interactions/:interactionId", {
    params: interaction,
    payload: InteractionChange,
    success: Data(Interaction)
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a note; null clears a field" })),
  HttpApiEndpoint.delete("removeInteraction", "/api/customers/:id/interactions/:interactionId", {
    params: interaction,
    success: Deleted
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Delete a note" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
