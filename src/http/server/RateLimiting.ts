import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import ipaddr from "ipaddr.js"
import { createHash } from "node:crypto"
import { declinePath } from "../../domain/mail/DeclineLink.ts"
import { filesPath } from "../../domain/media/MediaAsset.ts"
import { TooManyRequests } from "../../domain/platform/errors/ApiErrors.ts"
import {
  limitOf,
  type RateLimit,
  RateLimits,
  RateLimitSettings,
  type Standing,
  tighter
} from "../../domain/platform/ratelimits/RateLimits.ts"
import { emailKey } from "../../domain/platform/text/Email.ts"
import type { Caller } from "../access/Actors.ts"
import type { OwnRate } from "../middleware/Access.ts"
import { withoutMapping } from "./Origins.ts"
import type { RequestFacts } from "./RequestId.ts"

type Request = HttpServerRequest.HttpServerRequest

export type AddressedRequest = Pick<Request, "remoteAddress">

/** The path as its handler may read it, so that no other way of writing it escapes its limit. */
const plainPath = (url: string): string => {
  const end = url.indexOf("?")
  const path = end === -1 ? url : url.slice(0, end)
  if (!/[%A-Z;\\]|\/\/|\/$/.test(path)) return path
  let decoded = path
  try {
    decoded = decodeURIComponent(path)
  } catch {
    // What cannot be decoded is compared as it is: no route answers it.
  }
  return decoded.replaceAll("\\", "/").replace(/;[^/]*/g, "").replace(/\/+/g, "/").replace(/\/$/, "").toLowerCase()
}

/** What operators and load balancers poll. */
const exempt = new Set(["/health/live", "/health/ready", "/metrics", "/api/health", "/api/ready", "/api/metrics"])

/** Signed by the provider, which repeats refused events: only failures count. */
const providerEvents = "/api/payments/webhook"

/** Mailbox providers follow links of many receivers from few addresses: only tokens of no mail count. */
const signedRequest = (path: string): boolean => path === providerEvents || path === declinePath

export const showsCredentials = ({ headers }: Request): boolean =>
  headers["authorization"] !== undefined || headers["x-api-key"] !== undefined ||
  headers["x-test-actor"] !== undefined || headers["cookie"]?.includes("session_token=") === true

/**
 * Whose requests are counted together without credentials. Of an IPv6 address the first 64 bits, the smallest network
 * that is assigned: its owner picks the rest for each connection.
 */
export const addressSubject = (request: AddressedRequest): string => {
  const address = withoutMapping(Option.getOrElse(request.remoteAddress, () => ""))
  if (!ipaddr.IPv6.isValid(address)) return `ip:${address}`
  return `ip:${ipaddr.IPv6.parse(address).toByteArray().slice(0, 8).join(".")}/64`
}

const subjectOf = (request: AddressedRequest, caller: Caller): string => {
  if (caller.credential === "none") return addressSubject(request)
  if (caller.credential === "key") return `key:${caller.keyId ?? caller.userId ?? caller.name}`
  return caller.userId === null ? addressSubject(request) : `user:${caller.userId}`
}

/** Whose sign-ins and mails are counted together, however the address is written. */
export const emailSubject = (email: string): string =>
  `email:${createHash("sha256").update(emailKey(email)).digest("hex")}`

const orRefuse = Effect.flatMap((admitted: boolean) => admitted ? Effect.void : Effect.fail(TooManyRequests.of()))

/**
 * Limits of requests over HTTP (contract, platform §1.5). A request without credentials is counted by its address
 * before anything else; one with credentials after authentication: by key or user, or by address if they are invalid.
 * A request that was not counted on its way is counted by its address when it is answered. False: refuse the request.
 */
export class RateLimiting extends Context.Service<RateLimiting>()("stoa/http/server/RateLimiting", {
  make: Effect.gen(function*() {
    const rates = yield* RateLimitSettings
    const limits = yield* RateLimits

    const admit = (facts: RequestFacts, first: RateLimit, ...others: ReadonlyArray<RateLimit>) =>
      Effect.map(limits.admit(first, ...others), (standing) => {
        facts.standing = tighter(facts.standing, standing)
        return standing.admitted
      })

    const apiByAddress = (request: AddressedRequest) => limitOf("api", addressSubject(request), rates.api)

    /** Separate from visitors: many of them may share an address with a valid caller. */
    const guesses = (request: AddressedRequest) => limitOf("guesses", addressSubject(request), rates.api)

    /** A key with a separate limit has no other one. */
    const limitsOf = (subject: string, caller: Caller, own: OwnRate | undefined, counted: boolean) => {
      const isKey = caller.credential === "key"
      if (isKey && caller.rateLimit !== undefined) {
        return [limitOf("key", subject, { ...caller.rateLimit, enforced: rates.apiOfKey.enforced })]
      }
      const found = counted ? [] : [limitOf("api", subject, isKey ? rates.apiOfKey : rates.api)]
      if (own === "checkout") found.push(limitOf(own, subject, isKey ? rates.checkoutOfKey : rates.checkout))
      if (own === "promotionTrial") found.push(limitOf(own, subject, isKey ? rates.apiOfKey : rates.promotionTrial))
      if (own?.startsWith("strict:")) found.push(limitOf(own, subject, isKey ? rates.apiOfKey : rates.strict))
      return found
    }

    return {
      arrive: (request: Request, facts: RequestFacts) => {
        const path = plainPath(request.url)
        const subject = addressSubject(request)
        if (path === "/api/auth/get-session") {
          return admit(facts, apiByAddress(request), limitOf("session", subject, rates.session))
        }
        if (path.startsWith("/api/auth/")) {
          return admit(facts, apiByAddress(request), limitOf("auth", subject, rates.auth))
        }
        // Counted by address for every caller: pages load a dozen pictures at once.
        if (path.startsWith(filesPath)) return admit(facts, limitOf("media", subject, rates.media))
        return exempt.has(path) || signedRequest(path) || showsCredentials(request)
          ? Effect.succeed(true)
          : admit(facts, apiByAddress(request))
      },
      identify: (request: AddressedRequest, facts: RequestFacts, caller: Caller, own: OwnRate | undefined) => {
        if (own === "none") return Effect.void
        const [first, ...others] = limitsOf(subjectOf(request, caller), caller, own, facts.standing !== undefined)
        return first === undefined ? Effect.void : orRefuse(admit(facts, first, ...others))
      },
      /** A password of the account with this e-mail address is tried. */
      signIn: (facts: RequestFacts, email: string) =>
        admit(facts, limitOf("signInPerEmail", emailSubject(email), rates.signInPerEmail)),
      /** Another means is tried for an order, by whomever and from wherever: cards are tested so. */
      payment: (facts: RequestFacts, orderId: string) =>
        orRefuse(admit(facts, limitOf("payment", orderId, rates.checkout))),
      /** A request wants to send a mail of a kind to this address. False: do not send it, and do not reveal that. */
      mail: (kind: string, email: string) =>
        Effect.map(
          limits.admit(limitOf("mailPerRecipient", `${kind}:${emailSubject(email)}`, rates.mailPerRecipient)),
          ({ admitted }) => admitted
        ),
      /** Counts a request without valid credentials by its address. */
      outsider: (request: AddressedRequest, facts: RequestFacts) => orRefuse(admit(facts, apiByAddress(request))),
      /** Whether unverified credentials may be looked up for this address: not after too many invalid ones. */
      mayGuess: (request: AddressedRequest, facts: RequestFacts) =>
        Effect.suspend(() =>
          Effect.map(limits.standing(guesses(request)), (standing) => {
            if (standing.remaining > 0) return true
            facts.standing = { ...standing, admitted: false }
            return false
          })
        ),
      guessed: (request: AddressedRequest) => Effect.asVoid(limits.admit(guesses(request))),
      /** The request was answered with this status. Returns the state of the limit, which can refuse it even now. */
      leave: (request: Request, facts: RequestFacts, status: number) => {
        if (facts.standing !== undefined) return Effect.succeed(facts.standing)
        const path = plainPath(request.url)
        const free = exempt.has(path) || request.method === "OPTIONS" || (signedRequest(path) && status < 400)
        return free ? limits.standing(apiByAddress(request)) : limits.admit(apiByAddress(request))
      }
    }
  })
}) {
  static readonly layer = Layer.effect(RateLimiting, RateLimiting.make)
}

/** The state of the caller's rate limit, on every answer (spec §8). */
export const standingHeaders = ({ limit, remaining, resetsAt }: Standing): Record<string, string> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(Math.ceil(resetsAt / 1_000))
})

/** Seconds until a refused caller may come again. */
export const secondsToWait = ({ resetsInMs }: Standing): string => String(Math.max(1, Math.ceil(resetsInMs / 1_000)))
