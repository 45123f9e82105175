import { APIError } from "better-auth/api"
import { Clock, Effect, Layer, Redacted } from "effect"
import { timingSafeEqual } from "node:crypto"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { EmailVerificationRepo, emailVerificationRepoLayer } from "../../domain/auth/EmailVerificationRepo.ts"
import { GuestOrderClaims } from "../../domain/auth/GuestOrderClaims.ts"
import { sessionRepoLayer } from "../../domain/auth/SessionRepo.ts"
import { AddressVerification, type Busy, type OpenedLink } from "../../http/auth/AddressVerification.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { AuthSecret } from "./AuthSecret.ts"
import { readToken } from "./LinkToken.ts"
import { refusedPassword } from "./PasswordRules.ts"
import { Passwords } from "./Passwords.ts"
import { RequestStore } from "./RequestStore.ts"
import { digestOf } from "./SignUpBrowser.ts"

const isSameBrowser = (kept: string | null, nonce: string | undefined): boolean =>
  kept !== null && nonce !== undefined && timingSafeEqual(Buffer.from(digestOf(nonce)), Buffer.from(kept))

/** Whom the token of a link names, and what is known of him. */
const readLink = Effect.gen(function*() {
  const secret = Redacted.value(yield* AuthSecret)
  const { find } = yield* EmailVerificationRepo
  return Effect.fnUntraced(function*({ nonce, token }: OpenedLink) {
    const read = readToken(token, secret, yield* Clock.currentTimeMillis)
    if (read._tag === "Dead") return read
    const user = yield* find(read.userId)
    if (user?.email !== read.email) return { _tag: "Dead", code: "INVALID_TOKEN" } as const
    if (user.verified) return { _tag: "Verified" } as const
    const needsPassword = !isSameBrowser(user.signUpBrowser, nonce)
    return { _tag: "Waiting", needsPassword, userId: read.userId, email: user.email, name: user.name } as const
  })
})

/** `AddressVerification` over the users of the database. */
export const addressVerificationLayer = Layer.effect(
  AddressVerification,
  Effect.gen(function*() {
    const { auth: { secureCookies }, deployment } = yield* AppConfig
    const read = yield* readLink
    const repo = yield* EmailVerificationRepo
    const [passwords, claims, store] = yield* Effect.all([Passwords, GuestOrderClaims, RequestStore])
    const { forgetAll } = yield* CacheInvalidation
    // Full queues of hashes say so in the words of better-auth, which nobody reads here.
    const hashed = (password: string): Effect.Effect<string | Busy> =>
      Effect.catchDefect(
        passwords.hash(password),
        (defect) => defect instanceof APIError ? Effect.succeed({ _tag: "Busy" }) : Effect.die(defect)
      )

    return AddressVerification.of({
      storeName: deployment.storeName ?? "Stoa",
      secureCookies,
      look: read,
      verify: Effect.fnUntraced(function*({ newPassword, ...opened }, request) {
        const link = yield* read(opened)
        if (link._tag !== "Waiting") return link
        const { email, name, needsPassword, userId } = link
        if (needsPassword && newPassword === undefined) return link
        const refused = needsPassword ? yield* refusedPassword(newPassword ?? "") : undefined
        if (refused !== undefined) return { _tag: "PasswordRefused", ...refused } as const
        const hash = needsPassword ? yield* hashed(newPassword ?? "") : undefined
        if (typeof hash === "object") return hash
        const isFirst = yield* repo.verify(userId, email, hash)
        if (isFirst) {
          yield* forgetAll
          yield* claims.claim({ userId, email, name, organizationId: yield* store.organizationOf(request) })
        }
        return { _tag: "Verified" } as const
      })
    })
  })
).pipe(Layer.provide(Layer.provide(emailVerificationRepoLayer, sessionRepoLayer)))
