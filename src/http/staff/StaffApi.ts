import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { Uuid } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import {
  Invitation,
  NewInvitation,
  NewStaffMember,
  StaffMember,
  StaffRole,
  StaffRoleChange
} from "../../domain/staff/StaffMember.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"

const member = { id: Uuid }
const rank = "403 when the caller has fewer permissions than the role, or ranks below it."

/** The staff of an organization (contract, platform §6). */
export const StaffGroup = guarded(
  "staff",
  HttpApiEndpoint.get("listMembers", "/api/admin/staff", { query: pageQuery, success: Page(StaffMember) })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(summary("List the members of the organization")),
  HttpApiEndpoint.post("addMember", "/api/admin/staff", {
    payload: NewStaffMember,
    success: Data(StaffMember).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(
      summary(
        "Create a member of a customer of the organization",
        `404 for a person who is no customer of the organization: invite them. ${rank}`
      )
    ),
  HttpApiEndpoint.get("listRoles", "/api/admin/staff/roles", { success: Page(StaffRole) })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(summary("List the roles and their permissions")),
  HttpApiEndpoint.get("listInvitations", "/api/admin/staff/invitations", {
    query: pageQuery,
    success: Page(Invitation)
  })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(summary("List open invitations, newest first")),
  HttpApiEndpoint.post("invite", "/api/admin/staff/invitations", {
    payload: NewInvitation,
    success: Data(Invitation).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(summary("Invite a person to become a member", `Open for seven days; no mail is sent. ${rank}`)),
  HttpApiEndpoint.patch("changeRole", "/api/admin/staff/:id", {
    params: member,
    payload: StaffRoleChange,
    success: Data(StaffMember)
  })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(summary("Change the role of a member", `422 for the last owner. ${rank}`)),
  HttpApiEndpoint.delete("removeMember", "/api/admin/staff/:id", { params: member, success: Deleted })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(summary("End a membership", `422 for the last owner. ${rank}`))
).annotateEndpoints(StrictBody, true)
