import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"

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
