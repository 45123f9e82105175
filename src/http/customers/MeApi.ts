import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access, signedIn } from "../../domain/access/AccessRule.ts"
import { Reorder } from "../../domain/carts/Cart.ts"
import { Address, Customer, NewAddress, ProfileChange } from "../../domain/customers/Customer.ts"
import { PersonalData } from "../../domain/customers/PersonalData.ts"
import { Download, Tracking } from "../../domain/fulfillment/Fulfillment.ts"
import { Order } from "../../domain/orders/Order.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { creates, lists, listsOf, paramsOf, removes, summary } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

/** The data of a signed-in person (spec §4 `/me`, contract, platform §7). */
export const MeGroup = HttpApiGroup.make("me").add(
  HttpApiEndpoint.get("profile", "/api/me/profile", { success: Data(Customer) })
    .annotate(Access, signedIn())
    .annotateMerge(summary("Read the caller's profile; the first request creates it")),
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
    .annotateMerge(summary("Export all data of the caller: profile, addresses, orders, carts and notes")),
  HttpApiEndpoint.delete("erase", "/api/me", { success: Deleted })
    .annotate(Access, signedIn("customers:update:self"))
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Erase the caller's personal data",
      "Deletes profile and addresses; orders stay without personal data. It cannot be undone. 409 while an " +
        "order is still to be paid or sent, or a checkout is under way."
    ))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

const params = { idOrNumber: Schema.String }
const orders = "/api/me/orders"

/** The orders of a signed-in person (spec §4 `/me/orders`, contract, platform §7). */
export const MyOrdersGroup = HttpApiGroup.make("myOrders").add(
  HttpApiEndpoint.get("list", orders, {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotateMerge(summary("List the caller's orders with their lines, newest first")),
  HttpApiEndpoint.get("read", `${orders}/:idOrNumber`, { params, success: Data(Order) })
    .annotateMerge(summary("Read an order of the caller by its id or its number")),
  HttpApiEndpoint.get("tracking", `${orders}/:idOrNumber/tracking`, {
    params,
    query: pageQuery,
    success: Page(Tracking)
  })
    .annotateMerge(summary("Track the shipments of an order")),
  listsOf(
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
)
  .annotateEndpoints(Access, signedIn())
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
