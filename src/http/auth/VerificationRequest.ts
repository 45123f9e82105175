import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { AddressVerification, type LinkState, type PasswordRefused } from "./AddressVerification.ts"
import { isForm } from "./AuthBody.ts"
import { VerifyEmail } from "./AuthRecords.ts"
import { type Asked, guard, type Guarded, refusal, toWeb } from "./AuthRequest.ts"
import { nonceCookie, nonceOf } from "./SignUpNonce.ts"
import { pageOf } from "./VerificationPages.ts"

const decodeSent = Schema.decodeUnknownOption(VerifyEmail)

const path = "/api/auth/verify-email"

/** The address of the link, without the parameters that are fields of the form. */
const actionOf = ({ url: { searchParams } }: Guarded): string => {
  const organization = searchParams.get("organizationId")
  return organization === null ? path : `${path}?${new URLSearchParams({ organizationId: organization })}`
}

const messages = {
  INVALID_TOKEN: "Invalid token",
  TOKEN_EXPIRED: "Token expired",
  NEW_PASSWORD_REQUIRED: "This is not the browser that signed up: choose a new password (newPassword)."
} as const

const named = (status: number, code: keyof typeof messages) => refusal(status, { code, message: messages[code] })

/** The response to a page of the shop. */
const answerOf = (state: LinkState | PasswordRefused) => {
  switch (state._tag) {
    case "Verified":
      return HttpServerResponse.jsonUnsafe({ status: true })
    case "Waiting":
      return named(400, "NEW_PASSWORD_REQUIRED")
    case "PasswordRefused":
      return refusal(400, { code: state.code, message: state.message })
    case "Dead":
      return named(401, state.code)
  }
}

/**
 * Handlers of the link in a mail. Opening it changes nothing, since mail scanners open every link: it shows a page whose
 * button verifies the address.
 */
export const verification = Effect.map(
  Effect.all([AddressVerification, guard]),
  ([{ look, secureCookies, storeName, verify }, guarded]) => ({
    open: (asked: Asked) =>
      guarded(asked, (given) =>
        Effect.gen(function*() {
          const { request, url: { searchParams } } = given
          const link = {
            token: searchParams.get("token") ?? "",
            nonce: nonceOf(request.headers["cookie"], secureCookies)
          }
          const callbackURL = searchParams.get("callbackURL") ?? undefined
          return pageOf({ storeName, token: link.token, callbackURL, action: actionOf(given) }, yield* look(link))
        })),
    verify: (asked: Asked) =>
      guarded(asked, (given) =>
        Effect.gen(function*() {
          const { request } = given
          const { callbackURL, newPassword, token } = Option.getOrElse(
            Option.flatMap(given.body, decodeSent),
            () => ({ token: "", newPassword: undefined, callbackURL: undefined })
          )
          const nonce = nonceOf(request.headers["cookie"], secureCookies)
          const state = yield* verify({ token, nonce, newPassword }, toWeb(given))
          if (state._tag === "Busy") return refusal(503)
          const answer = isForm(request)
            ? pageOf({ storeName, token, callbackURL, action: actionOf(given) }, state)
            : answerOf(state)
          return nonce === undefined || state._tag !== "Verified"
            ? answer
            : HttpServerResponse.setHeader(answer, "set-cookie", nonceCookie(undefined, secureCookies))
        }))
  })
)
