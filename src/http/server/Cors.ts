import { Context } from "effect"

const allowedHeaders =
  "Content-Type, Authorization, x-api-key, x-request-id, x-store-id, x-cart-secret, idempotency-key"
const exposedHeaders =
  "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, set-auth-token"

/** Decides whether a browser page of this origin may read the answers. */
export type OriginTest = (origin: string) => boolean

/** Origins whose pages may read answers and act for their visitors (`auth.trustedOrigins`). */
export class TrustedOrigins extends Context.Service<TrustedOrigins, {
  readonly isTrusted: OriginTest
  readonly production: boolean
  /** Where clients reach the deployment (`STOA_PUBLIC_URL`), where that is said. */
  readonly publicUrl?: string | undefined
}>()("stoa/http/server/TrustedOrigins") {}

/** Listed origins; outside production any page served from this machine too (contract, platform §1.4). */
export const originTest = (trusted: ReadonlyArray<string>, production: boolean): OriginTest => (origin) =>
  trusted.includes(origin) || (!production && /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin))

/** Headers for an allowed cross-origin request; none for anything else (contract, platform §1.3). */
export const corsHeaders = (origin: string | undefined, allowed: OriginTest): Record<string, string> =>
  origin !== undefined && allowed(origin)
    ? {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": exposedHeaders
    }
    : {}

/** Headers of the answer to a preflight request (204). */
export const preflightHeaders = {
  "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE, OPTIONS",
  "access-control-allow-headers": allowedHeaders,
  "access-control-max-age": "86400"
} as const
