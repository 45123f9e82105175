import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { about, typedAs } from "../../domain/platform/hints/Hints.ts"
import { AnyJson, PersonName, Reference, ShopperObject, ShortText } from "../../domain/platform/text/Storable.ts"
import { summary } from "../endpoint/Resource.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import {
  act,
  AuthApiKey,
  AuthCaller,
  authFailures as error,
  AuthInvitation,
  AuthMember,
  AuthOrganization,
  Done,
  get,
  post,
  Succeeded
} from "./AuthRecords.ts"

const optionalText = Schema.optional(ShortText)
const numberText = Schema.optional(ShortText.annotate(typedAs({ type: "integer", minimum: 0 })))
const logo = Schema.optional(Reference).pipe(about("Address of a picture."))
const metadata = Schema.optional(ShopperObject)
const ofOrganization = { organizationId: optionalText, organizationSlug: optionalText }
const Invited = Schema.Struct({ invitationId: ShortText })
const WithMembers = Schema.Struct({ ...AuthOrganization.fields, members: Schema.Array(AuthMember) })
const Full = Schema.NullOr(Schema.Struct({ ...WithMembers.fields, invitations: Schema.Array(AuthInvitation) }))
const Chosen = Schema.NullOr(Schema.Struct({
  ...AuthOrganization.fields,
  members: Schema.optional(Schema.Array(AuthMember)),
  invitations: Schema.optional(Schema.Array(AuthInvitation))
}))
const elsewhere = "Refuse the change (403): members are managed at /api/admin/staff"

/** Organizations of the signed-in user (contract, platform §6). */
export const OrganizationsGroup = HttpApiGroup.make("authOrganizations").add(
  post(
    "create",
    "/api/auth/organization/create",
    Schema.Struct({ name: PersonName, slug: ShortText, logo, metadata }),
    WithMembers,
    "Create an organization and become its owner",
    "Only where the deployment allows it (`auth.allowOrganizationCreation`)."
  ),
  get("list", "/api/auth/organization/list", Schema.Array(AuthOrganization), "List the organizations of the user"),
  HttpApiEndpoint.get("getFull", "/api/auth/organization/get-full-organization", {
    query: ofOrganization,
    success: Full,
    error
  }).annotateMerge(summary("Get an organization with its members and invitations")),
  post(
    "setActive",
    "/api/auth/organization/set-active",
    Schema.Struct({
      organizationId: Schema.optional(Schema.NullOr(ShortText)),
      organizationSlug: optionalText.pipe(about("Names it in place of `organizationId`."))
    }),
    Chosen,
    "Choose the active organization of the session"
  ),
  post(
    "checkSlug",
    "/api/auth/organization/check-slug",
    Schema.Struct({ slug: ShortText }),
    Done,
    "Check that a slug is free"
  ),
  post(
    "update",
    "/api/auth/organization/update",
    Schema.Struct({
      organizationId: optionalText,
      data: Schema.Struct({ name: Schema.optional(PersonName), slug: optionalText, logo, metadata })
    }),
    AuthOrganization,
    "Change an organization"
  ),
  post(
    "delete",
    "/api/auth/organization/delete",
    Schema.Struct({ organizationId: ShortText }),
    AuthOrganization,
    "Delete an organization without any records"
  ),
  post(
    "acceptInvitation",
    "/api/auth/organization/accept-invitation",
    Invited,
    Schema.Struct({ invitation: AuthInvitation, member: AuthMember }),
    "Accept an invitation"
  ),
  post(
    "rejectInvitation",
    "/api/auth/organization/reject-invitation",
    Invited,
    Schema.Struct({ invitation: AuthInvitation, member: Schema.Null }),
    "Reject an invitation"
  ),
  post(
    "cancelInvitation",
    "/api/auth/organization/cancel-invitation",
    Invited,
    AuthInvitation,
    "Cancel an invitation"
  ),
  HttpApiEndpoint.get("listInvitations", "/api/auth/organization/list-invitations", {
    query: ofOrganization,
    success: Schema.Array(AuthInvitation),
    error
  }).annotateMerge(summary("List the invitations of an organization")),
  HttpApiEndpoint.get("listMembers", "/api/auth/organization/list-members", {
    query: ofOrganization,
    success: Schema.Struct({ members: Schema.Array(AuthMember), total: Schema.Int }),
    error
  }).annotateMerge(summary("List the members of an organization")),
  get(
    "getActiveMember",
    "/api/auth/organization/get-active-member",
    AuthMember,
    "Get the user's membership of the active organization"
  ),
  post(
    "hasPermission",
    "/api/auth/organization/has-permission",
    Schema.Struct({
      permissions: Schema.Record(Schema.String, Schema.Array(ShortText).check(Schema.isMaxLength(50)))
        .check(Schema.isMaxProperties(100)).pipe(about("Actions by module.")),
      organizationId: optionalText
    }),
    Schema.Struct({
      success: Schema.Boolean.pipe(about("The user has all of them.")),
      error: Schema.NullOr(Schema.String).pipe(about("Always null."))
    }),
    "Check permissions of the user in the active organization"
  ),
  act("inviteMember", "/api/auth/organization/invite-member", Done, elsewhere),
  act("updateMemberRole", "/api/auth/organization/update-member-role", Done, elsewhere),
  act("removeMember", "/api/auth/organization/remove-member", Done, elsewhere),
  act("leave", "/api/auth/organization/leave", Done, elsewhere),
  act("createRole", "/api/auth/organization/create-role", Done, elsewhere),
  act("updateRole", "/api/auth/organization/update-role", Done, elsewhere),
  act("deleteRole", "/api/auth/organization/delete-role", Done, elsewhere)
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)

/** better-auth fails with an unknown one. */
const sortBy = Schema.optional(
  Schema.Literals(["name", "createdAt", "updatedAt", "expiresAt", "lastRequest", "enabled"])
)
const sortDirection = Schema.optional(Schema.Literals(["asc", "desc"]))

const WithKey = Schema.Struct({
  ...AuthApiKey.fields,
  key: Schema.String.pipe(about("Shown in this answer only."))
}).annotate({
  identifier: "AuthApiKeyWithKey"
})

const unchosen = Schema.optional(
  AnyJson
).pipe(about("Cannot be chosen by the user: 400 `SERVER_ONLY_PROPERTY`."))

/** Refused by name: without them better-auth would create another key than requested. */
const serverOnly = {
  permissions: unchosen,
  remaining: unchosen,
  refillAmount: unchosen,
  refillInterval: unchosen,
  rateLimitEnabled: unchosen,
  rateLimitMax: unchosen,
  rateLimitTimeWindow: unchosen,
  userId: unchosen
}

/** API keys of the signed-in user (contract, platform §4). */
export const ApiKeysGroup = HttpApiGroup.make("authApiKeys").add(
  post(
    "create",
    "/api/auth/api-key/create",
    Schema.Struct({
      name: optionalText,
      prefix: optionalText.pipe(about("First characters of the key; a scope has a fixed one.")),
      expiresIn: Schema.optional(Schema.NullOr(Schema.Int)).pipe(about("Seconds, from a day to a year; null: no end.")),
      configId: optionalText,
      metadata,
      ...serverOnly
    }),
    WithKey,
    "Create an API key",
    "The answer shows the key; no other answer does. `expiresIn` is in seconds, from a day to a year. " +
      "`configId` names a scope of the deployment; metadata only where it allows them."
  ),
  HttpApiEndpoint.get("list", "/api/auth/api-key/list", {
    query: { limit: numberText, offset: numberText, sortBy, sortDirection },
    success: Schema.Struct({
      apiKeys: Schema.Array(AuthApiKey),
      total: Schema.Int,
      limit: Schema.optional(Schema.Int).pipe(about("Most keys of the answer, as it was asked.")),
      offset: Schema.optional(Schema.Int).pipe(about("Keys left out before them, as it was asked."))
    }),
    error
  }).annotateMerge(summary("List the user's API keys")),
  HttpApiEndpoint.get("get", "/api/auth/api-key/get", {
    query: { id: optionalText, configId: optionalText },
    success: AuthApiKey,
    error
  }).annotateMerge(summary("Get an API key of the user")),
  post(
    "update",
    "/api/auth/api-key/update",
    Schema.Struct({
      keyId: ShortText,
      configId: optionalText,
      name: optionalText,
      enabled: Schema.optional(Schema.Boolean).pipe(about("False: the key opens nothing.")),
      ...serverOnly
    }),
    AuthApiKey,
    "Change the name of an API key, or enable or disable it"
  ),
  post(
    "delete",
    "/api/auth/api-key/delete",
    Schema.Struct({ keyId: ShortText, configId: optionalText }),
    Succeeded,
    "Delete an API key, which is invalid from then on"
  )
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true).annotateEndpoints(StrictBody, true)
  .middleware(Idempotency).middleware(AuthCaller)
