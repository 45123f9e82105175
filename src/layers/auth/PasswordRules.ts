import { Effect, Schema } from "effect"

/** Why a new password is refused. */
export interface RefusedPassword {
  readonly code: string
  readonly message: string
}

let read: Promise<ReadonlySet<string>> | undefined

/** The 18,000 most common passwords of sufficient length, in lower case; loaded on first use. */
const commonPasswords = Effect.promise(() =>
  read ??= import("@zxcvbn-ts/language-common").then(({ dictionary }) =>
    new Set(dictionary["passwords-common"].filter(({ length }) => length >= 8))
  )
)

const tooCommon: RefusedPassword = {
  code: "PASSWORD_TOO_COMMON",
  message: "Password too common"
}

/** Undefined for an accepted password: 8 to 128 characters, and not a common one. */
export const refusedPassword = Effect.fnUntraced(function*(password: string) {
  const refused: RefusedPassword | undefined = password.length < 8
    ? { code: "PASSWORD_TOO_SHORT", message: "Password too short" }
    : password.length > 128
    ? { code: "PASSWORD_TOO_LONG", message: "Password too long" }
    : (yield* commonPasswords).has(password.toLowerCase())
    ? tooCommon
    : undefined
  return refused
})

const Chosen = Schema.fromJsonString(
  Schema.Struct({ password: Schema.optional(Schema.String), newPassword: Schema.optional(Schema.String) })
)
const decode = Schema.decodeEffect(Chosen)

/** Routes that set a new password. */
const chooses = /^\/(sign-up\/email|change-password|reset-password)$/

/** The refusal of a common password, before better-auth gets the request; better-auth itself checks the length. */
export const refusedChoice = Effect.fnUntraced(function*(path: string, request: Request) {
  if (request.method !== "POST" || !chooses.test(path)) return undefined
  const text = yield* Effect.promise(() => request.clone().text())
  const { newPassword, password } = yield* Effect.orElseSucceed(decode(text), (): typeof Chosen.Type => ({}))
  const refused = yield* refusedPassword(newPassword ?? password ?? "")
  return refused?.code === tooCommon.code ? Response.json(refused, { status: 400 }) : undefined
})
