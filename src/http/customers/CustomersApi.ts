import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, allOf, anyOf } from "../../domain/access/AccessRule.ts"
import { Address, Customer, CustomerChange, NewCustomer } from "../../domain/customers/Customer.ts"
import { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "../../domain/customers/CustomerGroup.ts"
import { Interaction, InteractionChange, NewInteraction } from "../../domain/customers/Interaction.ts"
import { CustomerTotals, Order } from "../../domain/orders/Order.ts"
import { type PageOf, pageQuery, Pagination, paginationOf } from "../../domain/paging/Paging.ts"
import { changes, creates, createsOf, lists, listsOf, paramsOf, reads, removes, summary } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const reading = anyOf("customers:read")
const writing = allOf("customers:read", "customers:update")
const customers = "/api/customers"
const customer = `${customers}/:id` as const

/** Customers for staff (contract, platform §8). */
export const CustomersGroup = HttpApiGroup.make("customers").add(
  lists("list", customers, Customer, "List customers, newest first").annotate(Access, reading),
  creates(
    "create",
    customers,
    NewCustomer,
    Customer,
    "Create a customer",
    "A customer without userId is a walk-in without a login. 409 when the login has a profile."
  ).annotate(Access, allOf("customers:read", "customers:create")),
  reads("read", customer, Customer, "Read a customer").annotate(Access, reading),
  HttpApiEndpoint.patch("change", customer, {
    params: paramsOf(customer),
    query: {
      metadataReplace: Schema.optional(
        Schema.String.annotate({ description: "true: replaces all metadata instead of merging into it." })
      )
    },
    payload: CustomerChange,
    success: Data(Customer)
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Change a customer; null clears a field"))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

const readingGroups = anyOf("customers:read", "customers:update")
const managing = anyOf("customers:update")
const groups = "/api/customers/groups"
const group = `${groups}/:groupId` as const
const member = `${group}/members/:customerId` as const

/** Response of joining and leaving, which are idempotent. */
const Membership = Data(Schema.Struct({ member: Schema.Boolean }))

/** Groups of customers, which prices and promotions reference (contract, platform §8). */
export const CustomerGroupsGroup = HttpApiGroup.make("customerGroups").add(
  lists("list", groups, CustomerGroup, "List customer groups by name").annotate(Access, readingGroups),
  creates("create", groups, NewCustomerGroup, CustomerGroup, "Create a customer group; 409 when its name is taken")
    .annotate(Access, managing),
  reads("read", group, CustomerGroup, "Read a customer group").annotate(Access, readingGroups),
  changes("change", group, CustomerGroupChange, CustomerGroup, "Change a customer group; null clears a field")
    .annotate(Access, managing),
  removes("remove", group, "Delete a customer group; 409 while it has members").annotate(Access, managing),
  listsOf("members", `${group}/members`, Customer, "List the customers in a group, last joined first")
    .annotate(Access, reading),
  HttpApiEndpoint.post("join", member, { params: paramsOf(member), success: Membership })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Add a customer to a group")),
  HttpApiEndpoint.delete("leave", member, { params: paramsOf(member), success: Membership })
    .annotate(Access, managing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Remove a customer from a group"))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

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

const interactions = `${customer}/interactions` as const
const interaction = `${interactions}/:interactionId` as const

/** Records of one customer for staff (contract, platform §8). */
export const CustomerRecordsGroup = HttpApiGroup.make("customerRecords").add(
  listsOf("addresses", `${customer}/addresses`, Address, "List a customer's addresses, oldest first")
    .annotate(Access, reading),
  HttpApiEndpoint.get("orders", `${customer}/orders`, {
    params: paramsOf(customer),
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." })),
      include: Schema.optional(Schema.String.annotate({ description: "totals: adds the sums of all orders." }))
    },
    success: Schema.Union([PageWithTotals, Page(Order)])
  })
    .annotate(Access, reading)
    .annotateMerge(summary("List a customer's orders with their lines, newest first")),
  listsOf("interactions", interactions, Interaction, "List staff notes about a customer, newest first")
    .annotate(Access, reading),
  createsOf("addInteraction", interactions, NewInteraction, Interaction, "Create a note about a customer")
    .annotate(Access, writing),
  changes("changeInteraction", interaction, InteractionChange, Interaction, "Change a note; null clears a field")
    .annotate(Access, writing),
  removes("removeInteraction", interaction, "Delete a note").annotate(Access, writing)
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
