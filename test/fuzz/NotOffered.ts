/** Operations that no request succeeds at: their summaries say that they are not offered, or no provider is set up. */
export const neverSucceeding: ReadonlySet<string> = new Set([
  "POST /api/auth/change-email",
  "POST /api/auth/delete-user",
  "POST /api/auth/two-factor/send-otp",
  "POST /api/auth/two-factor/verify-otp",
  "POST /api/auth/organization/invite-member",
  "POST /api/auth/organization/update-member-role",
  "POST /api/auth/organization/remove-member",
  "POST /api/auth/organization/leave",
  "POST /api/auth/organization/create-role",
  "POST /api/auth/organization/update-role",
  "POST /api/auth/organization/delete-role"
])
