import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"

const lifeSeconds = 604_800

export const nonceHeader = "x-stoa-sign-up-nonce"

const plain = "uc.sign_up"
// A page of a sibling domain cannot set a cookie of this name.
const hostOnly = `__Host-${plain}`

const pattern = /^(?:__Host-)?uc\.sign_up=[\w-]{43}$/

const cookiesIn = (header: string): ReadonlyArray<string> => header.split(";").map((one) => one.trim())

export const noncesIn = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}

/** Only under this deployment's cookie name: another host may have set the plain one. */
export const nonceOf = (cookies: string | undefined, secure: boolean): string | undefined => {
  const name = `${secure ? hostOnly : plain}=`
  return cookiesIn(cookies ?? "").find((one) => one.startsWith(name) && pattern.test(one))?.slice(name.length)
}

/** Unreadable for scripts; without a nonce it removes the cookie. */
export const nonceCookie = (nonce: string | undefined, secure: boolean): string =>
  `${secure ? hostOnly : plain}=${nonce ?? ""}; Path=/; Max-Age=${nonce === undefined ? 0 : lifeSeconds}; HttpOnly; ` +
  `SameSite=Lax${secure ? "; Secure" : ""}`

/** A nonce authenticates no user: it must not affect other checks. */
export const withoutNonce = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => one !== "" && !pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}

export type LinkState =
  | { readonly _tag: "Dead"; readonly code: "INVALID_TOKEN" | "TOKEN_EXPIRED" }
  | { readonly _tag: "Verified" }
  /** A new password is needed unless the browser is the one that signed up. */
  | { readonly _tag: "Waiting"; readonly needsPassword: boolean }

export interface PasswordRefused {
  readonly _tag: "PasswordRefused"
  readonly code: string
  readonly message: string
}

export interface Busy {
  readonly _tag: "Busy"
}

export interface OpenedLink {
  readonly token: string
  readonly nonce: string | undefined
}

/**
 * Verifies the address of a mailed link. The person who signed up may not own the mailbox: earlier passwords, sessions
 * and keys stay valid only for the browser that signed up.
 */
export class AddressVerification extends Context.Service<AddressVerification, {
  readonly storeName: string
  readonly secureCookies: boolean
  /** Changes nothing: mail scanners open every link. */
  readonly look: (link: OpenedLink) => Effect.Effect<LinkState>
  readonly verify: (
    link: OpenedLink & { readonly newPassword: string | undefined },
    request: Request
  ) => Effect.Effect<LinkState | PasswordRefused | Busy, never, CurrentActor>
}>()("stoa/http/auth/AddressVerification") {}
