import { Schema } from "effect"
import { about } from "../platform/hints/Hints.ts"
import { OrganizationId, Uuid } from "../platform/ids/Id.ts"
import { Email } from "../platform/text/Email.ts"
import { ShortText } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** A member of an organization with their user (contract, platform §6, staff routes). */
export const StaffMember = Schema.Struct({
  id: Uuid,
  userId: Uuid,
  role: Schema.String.pipe(about("Name of the role; a comma joins several.")),
  createdAt: Time,
  email: Schema.String,
  name: Schema.String
}).annotate({ identifier: "StaffMember" })
export type StaffMember = typeof StaffMember.Type

export const Invitation = Schema.Struct({
  id: Uuid,
  organizationId: OrganizationId,
  email: Schema.String,
  role: Schema.NullOr(Schema.String).pipe(about("Role that the person gets.")),
  status: Schema.String.pipe(about("Always pending: only open invitations are listed.")),
  expiresAt: Time,
  createdAt: Time,
  inviterId: Uuid
}).annotate({ identifier: "StaffInvitation" })
export type Invitation = typeof Invitation.Type

export const StaffRole = Schema.Struct({
  role: Schema.String.pipe(about("Name of the role; a comma joins several.")),
  permissions: Schema.Array(Schema.String).pipe(about("Permissions of the role; * stands for all actions or modules."))
}).annotate({ identifier: "StaffRole" })
export type StaffRole = typeof StaffRole.Type

const RoleName = ShortText.pipe(about("Name of a role of the deployment; the caller needs all its permissions."))

export const NewStaffMember = Schema.Struct({ userId: Uuid, role: RoleName })

export const NewInvitation = Schema.Struct({
  email: Email,
  role: RoleName
})

export const StaffRoleChange = Schema.Struct({ role: RoleName })
