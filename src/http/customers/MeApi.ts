import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, signedIn } from "../../domain/access/AccessRule.ts"
import { Customer, ProfileChange } from "../../domain/customers/Customer.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, MarkedChange } from "../middleware/Idempotency.ts"

/** What a signed-in person keeps of himself (spec §4 `/me`, contract, platform §7). */
export const MeGroup = HttpApiGroup.make("me").add(
  HttpApiEndpoint.get("profile", "/api/me/profile", { success: Data(Customer) })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Read one's own profile; the first request makes it" })),
  HttpApiEndpoint.patch("changeProfile", "/api/me/profile", { payload: ProfileChange, success: Data(Customer) })
    .annotate(Access, signedIn("customers:update:self"))
    .annotate(MarkedChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change one's own profile",
      description: "Null empties a field, metadata replaces all of it. The e-mail address is not changed here."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
