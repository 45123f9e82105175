import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, signedIn } from "../../domain/access/AccessRule.ts"
import { Reorder } from "../../domain/carts/Cart.ts"
import { Address, NewAddress } from "../../domain/customers/Address.ts"
import { Customer, ProfileChange } from "../../domain/customers/Customer.ts"
import { PersonalData } from "../../domain/customers/PersonalData.ts"
import { Download } from "../../domain/fulfillment/Download.ts"
import { Tracking } from "../../domain/fulfillment/Tracking.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

/** The data of a signed-in person (spec §4 `/me`, contract, platform §7). */
export const MeGroup = HttpApiGroup.make("me").add(
  HttpApiEndpoint.get("profile", "/api/me/profile", { success: Data(Customer) })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Read the caller's profile; the first request creates it" })),
  HttpApiEndpoint.patch("changeProfile", "/api/me/profile", { payload: ProfileChange, success: Data(Customer) })
    .annotate(Access, signedIn("customers:update:self"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change the caller's profile",
      description: "Null clears a field, metadata is replaced as a unit. The e-mail address is not changed here."
    })),
  HttpApiEndpoint.get("addresses", "/api/me/addresses", { query: pageQuery, success: Page(Address) })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "List the caller's addresses, oldest first" })),
  HttpApiEndpoint.post("addAddress", "/api/me/addresses", {
    payload: NewAddress,
    success: Data(Address).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, signedIn())
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Add an address",
      description: "isDefault replaces the default of its type. 409 when there are too many."
    })),
  HttpApiEndpoint.delete("removeAddress", "/api/me/addresses/:id", { params: { id: Uuid }, success: Deleted })
    .annotate(Access, signedIn())
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Delete an address of the caller" })),
  HttpApiEndpoint.get("exportAll", "/api/me/export", { success: Data(PersonalData) })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({
      summary: "Export all data of the caller: profile, addresses, orders, carts and notes"
    })),
  HttpApiEndpoint.delete("erase", "/api/me", { success: Deleted })
    .annotate(Access, signedIn("customers:update:self"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Erase the caller's personal data",
      description:
        "Deletes profile and addresses; orders stay without personal data. It cannot be undone. 409 while an " +
        "order is still to be paid or sent, or a checkout is under way."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

const named = { idOrNumber: Schema.String }
const order = { orderId: Uuid }

/** The orders of a signed-in person (spec §4 `/me/orders`, contract, platform §7). */
export const MyOrdersGroup = HttpApiGroup.make("myOrders").add(
  HttpApiEndpoint.get("list", "/api/me/orders", {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "List the caller's orders with their lines, newest first" })),
  HttpApiEndpoint.get("read", "/api/me/orders/:idOrNumber", { params: named, success: Data(Order) })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Read an order of the caller by its id or its number" })),
  HttpApiEndpoint.get("tracking", "/api/me/orders/:idOrNumber/tracking", {
    params: named,
    query: pageQuery,
    success: Page(Tracking)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Track the shipments of an order" })),
  HttpApiEndpoint.get("downloads", "/api/me/orders/:orderId/downloads", {
    params: order,
    query: pageQuery,
    success: Page(Download)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "List links to the files of an order; each download counts" })),
  HttpApiEndpoint.post("reorder", "/api/me/orders/:orderId/reorder", {
    params: order,
    success: Data(Reorder).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({
      summary: "Fill a new cart with the items of an order",
      description: "At current prices. Items that cannot be sold any more are named with the reason."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
