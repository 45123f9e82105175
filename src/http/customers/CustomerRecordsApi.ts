import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, allOf, anyOf } from "../../domain/access/AccessRule.ts"
import { Address } from "../../domain/customers/Address.ts"
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
