import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/** What the link of a mail is worth. */
export type LinkState =
  | { readonly _tag: "Dead"; readonly code: "INVALID_TOKEN" | "TOKEN_EXPIRED" }
  | { readonly _tag: "Verified" }
  /** Waits for its button; with a new password unless the browser is the one that signed up. */
  | { readonly _tag: "Waiting"; readonly needsPassword: boolean }

/** The new password is not taken. */
export interface PasswordRefused {
  readonly _tag: "PasswordRefused"
  readonly code: string
  readonly message: string
}

/** Too many passwords wait for their hashes: 503, to be tried again. */
export interface Busy {
  readonly _tag: "Busy"
}

/** A link as a browser brings it. */
export interface OpenedLink {
  readonly token: string
  /** What the browser keeps since it signed somebody up. */
  readonly nonce: string | undefined
}

/**
 * Verifies the address that a link was mailed to. Whoever signed up need not be whoever has the mailbox: what gave access
 * to the account before counts only where the browser that signed up brings the link back.
 */
export class AddressVerification extends Context.Service<AddressVerification, {
  readonly storeName: string
  readonly secureCookies: boolean
  /** Changes nothing: programs that look after mails open every link. */
  readonly look: (link: OpenedLink) => Effect.Effect<LinkState>
  /** The request says in which organization the orders of a guest are claimed. */
  readonly verify: (
    link: OpenedLink & { readonly newPassword: string | undefined },
    request: Request
  ) => Effect.Effect<LinkState | PasswordRefused | Busy, never, CurrentActor>
}>()("stoa/http/auth/AddressVerification") {}
