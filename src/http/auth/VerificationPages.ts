import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { escaped, page } from "../server/Pages.ts"
import {
  AddressVerification,
  type LinkState,
  nonceCookie,
  nonceOf,
  type PasswordRefused
} from "./AddressVerification.ts"
import { isForm } from "./AuthBody.ts"
import { VerifyEmail } from "./AuthRecords.ts"
import { type Asked, guard, type Guarded, refusal, toWeb } from "./AuthRequest.ts"

export interface PageOf {
  readonly storeName: string
  readonly token: string
  readonly callbackURL: string | undefined
  readonly action: string
}

const hidden = (name: string, value: string | undefined): string =>
  value === undefined ? "" : `<input type="hidden" name="${name}" value="${escaped(value)}">`

const passwordField =
  `<p>Choose a password for the account. It replaces everything that was set up before, so that only the ` +
  `owner of this mailbox has access.</p><label>New password<input type="password" name="newPassword" minlength="8" ` +
  `maxlength="128" autocomplete="new-password" required></label>`

const form = ({ action, callbackURL, token }: PageOf, needsPassword: boolean): string =>
  `<form method="post" action="${escaped(action)}">${hidden("token", token)}${hidden("callbackURL", callbackURL)}${
    needsPassword ? passwordField : ""
  }<button type="submit">This address is mine</button></form>`

const onward = (callbackURL: string | undefined): string =>
  callbackURL === undefined || callbackURL === "/"
    ? "<p>You can close this page and sign in.</p>"
    : `<p><a href="${escaped(callbackURL)}">Continue</a></p>`

export const pageOf = (of: PageOf, state: LinkState | PasswordRefused) => {
  switch (state._tag) {
    case "Waiting":
      return page(200, `Confirm your address for ${of.storeName}`, form(of, state.needsPassword))
    case "PasswordRefused": {
      const problem = `<p role="alert">${escaped(state.message)}</p>`
      return page(400, `Confirm your address for ${of.storeName}`, problem + form(of, true))
    }
    case "Verified":
      return page(200, "Your address is confirmed", onward(of.callbackURL))
    case "Dead":
      return page(
        401,
        "This link does not work any more",
        "<p>Links work for an hour and once. Sign in, or ask the shop for another one.</p>"
      )
  }
}

const decodeSent = Schema.decodeUnknownOption(VerifyEmail)

const path = "/api/auth/verify-email"

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

/** Opening a link changes nothing, since mail scanners do: its page has a button. */
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
