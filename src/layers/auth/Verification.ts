import { APIError } from "better-auth/api"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto"
import { AuthRepo, EmailVerificationRepo } from "../../domain/auth/AuthRepo.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { type Actor, anonymousActor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { CacheInvalidation } from "../../domain/platform/access/CacheInvalidation.ts"
import {
  AddressVerification,
  type Busy,
  nonceCookie,
  nonceHeader,
  nonceOf,
  type OpenedLink
} from "../../http/auth/AddressVerification.ts"
import { withoutAlias } from "../../http/auth/EmailAlias.ts"
import { RequestId } from "../../http/server/RequestId.ts"
import { RequestStore } from "../access/StoreResolution.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { AuthSecret } from "./AuthSecret.ts"
import { Passwords, refusedPassword } from "./Passwords.ts"

export const SignUpBrowser = Context.Reference<string | undefined>("stoa/layers/auth/SignUpBrowser", {
  defaultValue: () => undefined
})

export const digestOf = (nonce: string): string => hash("sha256", nonce, "hex")

/**
 * Sets a nonce that identifies the browser when the address is verified. Taken addresses get one too: it reveals no
 * account.
 */
export const rememberingBrowser = <A extends { readonly response: Response }, E, R>(
  request: Request,
  secure: boolean,
  signUp: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  // A form that is sent twice belongs to the account of the first time.
  const nonce = nonceOf(request.headers.get(nonceHeader) ?? undefined, secure) ?? randomBytes(32).toString("base64url")
  return Effect.map(Effect.provideService(signUp, SignUpBrowser, digestOf(nonce)), (answered) => {
    const { response } = answered
    if (response.status >= 400) return answered
    const headers = new Headers(response.headers)
    headers.append("set-cookie", nonceCookie(nonce, secure))
    return { ...answered, response: new Response(response.body, { status: response.status, headers }) }
  })
}

/** Signed by better-auth; links that change an address are not offered. */
const Claims = Schema.fromJsonString(
  Schema.Struct({
    email: Schema.String,
    userId: Schema.String.check(Schema.isUUID()),
    exp: Schema.Int,
    updateTo: Schema.optionalKey(Schema.Undefined),
    requestType: Schema.optionalKey(Schema.Undefined)
  })
)
const decode = Schema.decodeUnknownOption(Claims)

const dead = (code: "INVALID_TOKEN" | "TOKEN_EXPIRED") => ({ _tag: "Dead", code }) as const

const readToken = (token: string, secret: string, now: number) => {
  const [header = "", payload = "", signature = "", ...rest] = token.split(".")
  const expected = createHmac("sha256", secret).update(`${header}.${payload}`).digest()
  const given = Buffer.from(signature, "base64url")
  const isSigned = rest.length === 0 && given.length === expected.length && timingSafeEqual(given, expected)
  const claims = isSigned ? decode(Buffer.from(payload, "base64url").toString("utf8")) : Option.none()
  if (Option.isNone(claims)) return dead("INVALID_TOKEN")
  const { email, exp, userId } = claims.value
  return exp * 1_000 <= now ? dead("TOKEN_EXPIRED") : { _tag: "Alive", email: withoutAlias(email), userId } as const
}

const isSameBrowser = (kept: string | null, nonce: string | undefined): boolean =>
  kept !== null && nonce !== undefined && timingSafeEqual(Buffer.from(digestOf(nonce)), Buffer.from(kept))

const readLink = Effect.gen(function*() {
  const secret = Redacted.value(yield* AuthSecret)
  const { find } = yield* EmailVerificationRepo
  return Effect.fnUntraced(function*({ nonce, token }: OpenedLink) {
    const read = readToken(token, secret, yield* Clock.currentTimeMillis)
    if (read._tag === "Dead") return read
    const user = yield* find(read.userId)
    if (user?.email !== read.email) return dead("INVALID_TOKEN")
    if (user.verified) return { _tag: "Verified" } as const
    const needsPassword = !isSameBrowser(user.signUpBrowser, nonce)
    return { _tag: "Waiting", needsPassword, userId: read.userId, email: user.email, name: user.name } as const
  })
})

export const addressVerificationLayer = Layer.effect(
  AddressVerification,
  Effect.gen(function*() {
    const { auth: { secureCookies }, deployment } = yield* AppConfig
    const read = yield* readLink
    const repo = yield* EmailVerificationRepo
    const [passwords, claims, store] = yield* Effect.all([Passwords, GuestOrderClaims, RequestStore])
    const { forgetAll } = yield* CacheInvalidation
    const hashed = (password: string): Effect.Effect<string | Busy> =>
      Effect.catchDefect(
        passwords.hash(password),
        (defect) => defect instanceof APIError ? Effect.succeed({ _tag: "Busy" }) : Effect.die(defect)
      )

    return AddressVerification.of({
      storeName: deployment.storeName,
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
).pipe(Layer.provide(Layer.provide(EmailVerificationRepo.layer, AuthRepo.layer)))

export interface VerifiedUser {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly organizationId: string
}

/**
 * Assigns guest orders to the user who verified their address (contract, platform §7). Runs after verifications and
 * sign-ins: cheap, idempotent, never fails.
 */
export class GuestOrderClaims extends Context.Service<GuestOrderClaims, {
  readonly claim: (user: VerifiedUser) => Effect.Effect<void>
}>()("stoa/layers/auth/GuestOrderClaims") {}

export const guestClaimsLayer = Layer.effect(
  GuestOrderClaims,
  Effect.gen(function*() {
    const { access } = yield* AppConfig
    const { claimGuestOrders } = yield* CustomerOrders

    const actorOf = ({ email, name, organizationId, userId }: VerifiedUser, requestId: string): Actor => ({
      ...anonymousActor(organizationId, access.customerPermissions),
      userId,
      email,
      name,
      requestId: requestId === "" ? null : requestId,
      source: "rest"
    })

    return GuestOrderClaims.of({
      claim: Effect.fn("GuestOrderClaims.claim")(
        function*(user: VerifiedUser) {
          const actor = actorOf(user, yield* RequestId)
          const claimed = yield* Effect.provideService(claimGuestOrders, CurrentActor, actor)
          if (claimed > 0) yield* Effect.logInfo(`guest orders were assigned to a user: ${claimed}`)
        },
        (claim, { userId }) =>
          Effect.catchCause(
            claim,
            (cause) =>
              Effect.logError("guest orders were not assigned to the user with their address", { userId }, cause)
          )
      )
    })
  })
)
