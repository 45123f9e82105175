import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Reorder } from "../../domain/carts/Cart.ts"
import {
  Address,
  Customer,
  CustomerChange,
  NewAddress,
  NewCustomer,
  ProfileChange
} from "../../domain/customers/Customer.ts"
import { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "../../domain/customers/CustomerGroup.ts"
import { Interaction, InteractionChange, NewInteraction } from "../../domain/customers/Interaction.ts"
import { Download, Tracking } from "../../domain/fulfillment/Fulfillment.ts"
import { CustomerTotals, Order } from "../../domain/orders/Order.ts"
import { Access, allOf, anyOf, signedIn } from "../../domain/platform/access/AccessRule.ts"
import { asFlag } from "../../domain/platform/hints/Hints.ts"
import { type PageOf, pageQuery, Pagination, paginationOf } from "../../domain/platform/paging/Paging.ts"
import { PersonalData } from "../../domain/privacy/PersonalData.ts"
import { changes, creates, guarded, lists, paramsOf, reads, removes, summary } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

const reading = anyOf("customers:read")
const writing = allOf("customers:read", "customers:update")
const customers = "/api/customers"
const customer = `${customers}/:id` as const

/** Customers for staff (contract, platform §8). */
export const CustomersGroup = guarded(
  "customers",
  lists("list", customers, Customer, "List customers, newest first").annotate(Access, reading),
  creates(
    "create",
    customers,
    NewCustomer,
    Customer,
    "Create a customer",
    "A customer without userId is a walk-in without a login. 409 when the login has a profile."
  ).annotate(Access, allOf("customers:read", "customers:create")),
  reads("read", customer, Customer, "Get a customer").annotate(Access, reading),
  HttpApiEndpoint.patch("change", customer, {
    params: paramsOf(customer),
    query: {
      metadataReplace: Schema.optional(
        Schema.String.annotate({ description: "true: replaces all metadata instead of merging into it.", ...asFlag })
      )
    },
    payload: CustomerChange,
    success: Data(Customer)
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Change a customer; null clears a field"))
)

const readingGroups = anyOf("customers:read", "customers:update")
const managing = anyOf("customers:update")
const groups = "/api/customers/groups"
const group = `${groups}/:groupId` as const
const member = `${group}/members/:customerId` as const

const Membership = Data(Schema.Struct({ member: Schema.Boolean }))

/** Groups of customers (contract, platform §8). */
export const CustomerGroupsGroup = guarded(
  "customerGroups",
  lists("list", groups, CustomerGroup, "List customer groups by name").annotate(Access, readingGroups),
  creates("create", groups, NewCustomerGroup, CustomerGroup, "Create a customer group; 409 when its name is taken")
    .annotate(Access, managing),
  reads("read", group, CustomerGroup, "Get a customer group").annotate(Access, readingGroups),
  changes("change", group, CustomerGroupChange, CustomerGroup, "Change a customer group; null clears a field")
    .annotate(Access, managing),
  removes("remove", group, "Delete a customer group; 409 while it has members").annotate(Access, managing),
  lists("members", `${group}/members`, Customer, "List the customers in a group, last joined first")
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

interface OrdersWithTotals extends PageOf<Order> {
  readonly totals: CustomerTotals
}

const items = Schema.Array(Schema.toType(Order).annotate({ identifier: undefined }))
const totals = Schema.toType(CustomerTotals).annotate({ identifier: undefined })

/** `{ items, totals }` with `include=totals` (contract, platform §8). */
const PageWithTotals = Schema.Struct({
  data: Schema.Struct({ items: Schema.Array(Order), totals: CustomerTotals }),
  meta: Schema.Struct({ pagination: Pagination })
}).pipe(
  Schema.decodeTo(
    Schema.Struct({ items, totals, page: Schema.Int, limit: Schema.Int, total: Schema.Int }),
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
export const CustomerRecordsGroup = guarded(
  "customerRecords",
  lists("addresses", `${customer}/addresses`, Address, "List a customer's addresses, oldest first")
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
  lists("interactions", interactions, Interaction, "List staff notes about a customer, newest first")
    .annotate(Access, reading),
  creates("addInteraction", interactions, NewInteraction, Interaction, "Create a note about a customer")
    .annotate(Access, writing),
  changes("changeInteraction", interaction, InteractionChange, Interaction, "Change a note; null clears a field")
    .annotate(Access, writing),
  removes("removeInteraction", interaction, "Delete a note").annotate(Access, writing)
)

/** The data of a signed-in person (spec §4 `/me`, contract, platform §7). */
export const MeGroup = guarded(
  "me",
  HttpApiEndpoint.get("profile", "/api/me/profile", { success: Data(Customer) })
    .annotate(Access, signedIn())
    .annotateMerge(summary("Get the caller's profile; the first request creates it")),
  HttpApiEndpoint.patch("changeProfile", "/api/me/profile", { payload: ProfileChange, success: Data(Customer) })
    .annotate(Access, signedIn("customers:update:self"))
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Change the caller's profile",
      "Null clears a field, metadata is replaced as a unit. The e-mail address is not changed here."
    )),
  lists("addresses", "/api/me/addresses", Address, "List the caller's addresses, oldest first")
    .annotate(Access, signedIn()),
  creates(
    "addAddress",
    "/api/me/addresses",
    NewAddress,
    Address,
    "Add an address",
    "isDefault replaces the default of its type. 409 when there are too many."
  ).annotate(Access, signedIn()),
  removes("removeAddress", "/api/me/addresses/:id", "Delete an address of the caller").annotate(Access, signedIn()),
  HttpApiEndpoint.get("exportAll", "/api/me/export", { success: Data(PersonalData) })
    .annotate(Access, signedIn())
    .annotateMerge(
      summary("Export all data of the caller: profile, addresses, orders, carts, notes and rows of plugins")
    ),
  HttpApiEndpoint.delete("erase", "/api/me", { success: Deleted })
    .annotate(Access, signedIn("customers:update:self"))
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Erase the caller's personal data",
      "Deletes profile and addresses; orders stay without personal data. It cannot be undone. 409 while an " +
        "order is still to be paid or sent, or a checkout is under way."
    ))
)

const params = { idOrNumber: Schema.String }
const orders = "/api/me/orders"

/** The orders of a signed-in person (spec §4 `/me/orders`, contract, platform §7). */
export const MyOrdersGroup = guarded(
  "myOrders",
  HttpApiEndpoint.get("list", orders, {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotateMerge(summary("List the caller's orders with their lines, newest first")),
  HttpApiEndpoint.get("read", `${orders}/:idOrNumber`, { params, success: Data(Order) })
    .annotateMerge(summary("Get an order of the caller by its id or its number")),
  HttpApiEndpoint.get("tracking", `${orders}/:idOrNumber/tracking`, {
    params,
    query: pageQuery,
    success: Page(Tracking)
  })
    .annotateMerge(summary("Track the shipments of an order")),
  lists(
    "downloads",
    `${orders}/:orderId/downloads`,
    Download,
    "List links to the files of an order; each download counts"
  ),
  HttpApiEndpoint.post("reorder", `${orders}/:orderId/reorder`, {
    params: paramsOf(`${orders}/:orderId/reorder`),
    success: Data(Reorder).pipe(HttpApiSchema.status(201))
  })
    .annotateMerge(summary(
      "Fill a new cart with the items of an order",
      "At current prices. Items that cannot be sold any more are named with the reason."
    ))
).annotateEndpoints(Access, signedIn())
