import { Schema } from "effect"
import { OrganizationId, Uuid } from "../platform/ids/Id.ts"
import { Email } from "../platform/text/Email.ts"
import { ShortText } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** A member of an organization with their user (contract, platform §6, staff routes). */
export const StaffMember = Schema.Struct({
  id: Uuid,
  userId: Uuid,
  role: Schema.String,
  createdAt: Time,
  email: Schema.String,
  name: Schema.String
}).annotate({ identifier: "StaffMember" })
export type StaffMember = typeof StaffMember.Type

export const Invitation = Schema.Struct({
  id: Uuid,
  organizationId: OrganizationId,
  email: Schema.String,
  role: Schema.NullOr(Schema.String),
  status: Schema.String,
  expiresAt: Time,
  createdAt: Time,
  inviterId: Uuid
}).annotate({ identifier: "StaffInvitation" })
export type Invitation = typeof Invitation.Type

export const StaffRole = Schema.Struct({
  role: Schema.String,
  permissions: Schema.Array(Schema.String)
}).annotate({ identifier: "StaffRole" })
export type StaffRole = typeof StaffRole.Type

export const NewStaffMember = Schema.Struct({ userId: Uuid, role: ShortText })

export const NewInvitation = Schema.Struct({
  email: Email,
  role: ShortText
})

export const StaffRoleChange = Schema.Struct({ role: ShortText })
