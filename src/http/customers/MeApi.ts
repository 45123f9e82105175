import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, signedIn } from "../../domain/access/AccessRule.ts"
import { Address, NewAddress } from "../../domain/customers/Address.ts"
import { Customer, ProfileChange } from "../../domain/customers/Customer.ts"
import { PersonalData } from "../../domain/customers/PersonalData.ts"
import { Uuid } from "../../domain/ids/Id.ts"
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
