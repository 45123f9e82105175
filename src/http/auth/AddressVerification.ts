import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"

/** Lifetime of the cookie in seconds: longer than people wait for a mail. */
const lifeSeconds = 604_800

/** The header that passes existing nonces of the browser to the sign-up. */
export const nonceHeader = "x-stoa-sign-up-nonce"

const plain = "uc.sign_up"
// Browsers accept a cookie of this name from the host alone: a page of a sibling domain cannot set one.
const hostOnly = `__Host-${plain}`

const pattern = /^(?:__Host-)?uc\.sign_up=[\w-]{43}$/

const cookiesIn = (header: string): ReadonlyArray<string> => header.split(";").map((one) => one.trim())

/** The cookies with a nonce, without any others. */
export const noncesIn = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}

/**
 * The nonce of a browser that signed up; undefined without one. Only under the name of this deployment: where it is that of
 * a host-only cookie, another host may have set the plain one.
 */
export const nonceOf = (cookies: string | undefined, secure: boolean): string | undefined => {
  const name = `${secure ? hostOnly : plain}=`
  return cookiesIn(cookies ?? "").find((one) => one.startsWith(name) && pattern.test(one))?.slice(name.length)
}

/** The cookie that stores a nonce, which scripts cannot read and links send; without a nonce, the cookie that removes it. */
export const nonceCookie = (nonce: string | undefined, secure: boolean): string =>
  `${secure ? hostOnly : plain}=${nonce ?? ""}; Path=/; Max-Age=${nonce === undefined ? 0 : lifeSeconds}; HttpOnly; ` +
  `SameSite=Lax${secure ? "; Secure" : ""}`

/** The cookies without nonces: a nonce authenticates no user, so it does not affect the checks of a request. */
export const withoutNonce = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => one !== "" && !pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}

/** The state of a verification link. */
export type LinkState =
  | { readonly _tag: "Dead"; readonly code: "INVALID_TOKEN" | "TOKEN_EXPIRED" }
  | { readonly _tag: "Verified" }
  /** Waits for confirmation; with a new password unless the browser is the one that signed up. */
  | { readonly _tag: "Waiting"; readonly needsPassword: boolean }

/** The new password is refused. */
export interface PasswordRefused {
  readonly _tag: "PasswordRefused"
  readonly code: string
  readonly message: string
}

/** The queue of password hashes is full: 503, to be retried. */
export interface Busy {
  readonly _tag: "Busy"
}

/** A link as a browser opens it. */
export interface OpenedLink {
  readonly token: string
  /** The nonce that the browser got at a sign-up. */
  readonly nonce: string | undefined
}

/**
 * Verifies the address that a link was mailed to. The person who signed up may not be the owner of the mailbox: earlier
 * passwords, sessions and keys stay valid only if the browser that signed up opens the link.
 */
export class AddressVerification extends Context.Service<AddressVerification, {
  readonly storeName: string
  readonly secureCookies: boolean
  /** Changes nothing: mail scanners open every link. */
  readonly look: (link: OpenedLink) => Effect.Effect<LinkState>
  /** Guest orders are claimed in the organization of the request. */
  readonly verify: (
    link: OpenedLink & { readonly newPassword: string | undefined },
    request: Request
  ) => Effect.Effect<LinkState | PasswordRefused | Busy, never, CurrentActor>
}>()("stoa/http/auth/AddressVerification") {}
