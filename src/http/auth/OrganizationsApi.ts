import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import { PersonName, Reference, ShopperObject, ShortText } from "../../domain/text/Storable.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { AuthCaller } from "./AuthCaller.ts"
import { authFailures as error } from "./AuthFailures.ts"
import { AuthInvitation, AuthMember, AuthOrganization, Done } from "./AuthRecords.ts"

const optionalText = Schema.optional(ShortText)
const logo = Schema.optional(Reference)
const metadata = Schema.optional(ShopperObject)
const ofOrganization = { organizationId: optionalText, organizationSlug: optionalText }
const Invited = Schema.Struct({ invitationId: ShortText })
const WithMembers = Schema.Struct({ ...AuthOrganization.fields, members: Schema.Array(AuthMember) })
const Full = Schema.NullOr(Schema.Struct({ ...WithMembers.fields, invitations: Schema.Array(AuthInvitation) }))
/** The chosen organization, with members and invitations where better-auth has loaded them. */
const Chosen = Schema.NullOr(Schema.Struct({
  ...AuthOrganization.fields,
  members: Schema.optional(Schema.Array(AuthMember)),
  invitations: Schema.optional(Schema.Array(AuthInvitation))
}))
const elsewhere = OpenApi.annotations({ summary: "Not offered here (403): members are managed at /api/admin/staff" })
const refused = (name: string) => `/api/auth/organization/${name}` as const

/** Organizations of the signed-in user (contract, platform §6); `/api/admin/staff` manages members. */
export const OrganizationsGroup = HttpApiGroup.make("authOrganizations").add(
  HttpApiEndpoint.post("create", "/api/auth/organization/create", {
    payload: Schema.Struct({ name: PersonName, slug: ShortText, logo, metadata }),
    success: WithMembers,
    error
  })
    .annotateMerge(OpenApi.annotations({
      summary: "Create an organization and become its owner",
      description: "Only where the deployment allows it (`auth.allowOrganizationCreation`)."
    })),
  HttpApiEndpoint.get("list", "/api/auth/organization/list", { success: Schema.Array(AuthOrganization), error })
    .annotateMerge(OpenApi.annotations({ summary: "List the organizations of the user" })),
  HttpApiEndpoint.get("getFull", "/api/auth/organization/get-full-organization", {
    query: ofOrganization,
    success: Full,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Read an organization with its members and invitations" })),
  HttpApiEndpoint.post("setActive", "/api/auth/organization/set-active", {
    payload: Schema.Struct({
      organizationId: Schema.optional(Schema.NullOr(ShortText)),
      organizationSlug: optionalText
    }),
    success: Chosen,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Choose the active organization of the session" })),
  HttpApiEndpoint.post("checkSlug", "/api/auth/organization/check-slug", {
    payload: Schema.Struct({ slug: ShortText }),
    success: Done,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Whether a slug is free" })),
  HttpApiEndpoint.post("update", "/api/auth/organization/update", {
    payload: Schema.Struct({
      organizationId: optionalText,
      data: Schema.Struct({ name: Schema.optional(PersonName), slug: optionalText, logo, metadata })
    }),
    success: AuthOrganization,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Change an organization" })),
  HttpApiEndpoint.post("delete", "/api/auth/organization/delete", {
    payload: Schema.Struct({ organizationId: ShortText }),
    success: AuthOrganization,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Delete an organization without any records" })),
  HttpApiEndpoint.post("acceptInvitation", "/api/auth/organization/accept-invitation", {
    payload: Invited,
    success: Schema.Struct({ invitation: AuthInvitation, member: AuthMember }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Accept an invitation" })),
  HttpApiEndpoint.post("rejectInvitation", "/api/auth/organization/reject-invitation", {
    payload: Invited,
    success: Schema.Struct({ invitation: AuthInvitation, member: Schema.Null }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Reject an invitation" })),
  HttpApiEndpoint.post("cancelInvitation", "/api/auth/organization/cancel-invitation", {
    payload: Invited,
    success: AuthInvitation,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Cancel an invitation" })),
  HttpApiEndpoint.get("listInvitations", "/api/auth/organization/list-invitations", {
    query: ofOrganization,
    success: Schema.Array(AuthInvitation),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "List the invitations of an organization" })),
  HttpApiEndpoint.get("listMembers", "/api/auth/organization/list-members", {
    query: ofOrganization,
    success: Schema.Struct({ members: Schema.Array(AuthMember), total: Schema.Int }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "List the members of an organization" })),
  HttpApiEndpoint.get("getActiveMember", "/api/auth/organization/get-active-member", { success: AuthMember, error })
    .annotateMerge(OpenApi.annotations({ summary: "Read the user's membership of the active organization" })),
  HttpApiEndpoint.post("hasPermission", "/api/auth/organization/has-permission", {
    payload: Schema.Struct({
      permissions: Schema.Record(Schema.String, Schema.Array(ShortText).check(Schema.isMaxLength(50)))
        .check(Schema.isMaxProperties(100)),
      organizationId: optionalText
    }),
    success: Schema.Struct({ success: Schema.Boolean, error: Schema.NullOr(Schema.String) }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Whether the user has permissions in the active organization" })),
  HttpApiEndpoint.post("inviteMember", refused("invite-member"), { success: Done, error }).annotateMerge(elsewhere),
  HttpApiEndpoint.post("updateMemberRole", refused("update-member-role"), { success: Done, error })
    .annotateMerge(elsewhere),
  HttpApiEndpoint.post("removeMember", refused("remove-member"), { success: Done, error }).annotateMerge(elsewhere),
  HttpApiEndpoint.post("leave", refused("leave"), { success: Done, error }).annotateMerge(elsewhere),
  HttpApiEndpoint.post("createRole", refused("create-role"), { success: Done, error }).annotateMerge(elsewhere),
  HttpApiEndpoint.post("updateRole", refused("update-role"), { success: Done, error }).annotateMerge(elsewhere),
  HttpApiEndpoint.post("deleteRole", refused("delete-role"), { success: Done, error }).annotateMerge(elsewhere)
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
