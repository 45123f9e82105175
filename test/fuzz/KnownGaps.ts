import type { Received } from "./Answers.ts"

/** Operations whose known failures are mended elsewhere. Delete a line to have it looked at again. */
const failing = new Set([
  "POST /api/auth/update-user",
  "POST /api/auth/organization/create",
  "POST /api/auth/organization/delete"
])

/** Whether an answer is one of a gap that is known. */
export const isKnown = (operation: string, { status }: Received): boolean => status === 500 && failing.has(operation)

/** Values that are hard on a service by their mere size or coding. */
export const hardValues = {
  "lone surrogates": "\ud800",
  "huge arrays": Array.from({ length: 100_000 }, () => null),
  "long texts": "x".repeat(900_000)
} as const

/** Hard values that are not sent, because what they do is mended elsewhere. Delete a line to send them. */
export const unsent: ReadonlySet<string> = new Set<keyof typeof hardValues>([
  "lone surrogates",
  "huge arrays",
  "long texts"
])

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
