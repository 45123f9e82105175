import { Effect, Layer, Option, Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { anonymousActor } from "../domain/access/Actor.ts"
import { Unauthorized } from "../domain/errors/ApiErrors.ts"
import { StoreSettings } from "../domain/settings/StoreSettings.ts"
import { Actors, type Caller } from "../http/access/Actors.ts"
import { RequestId } from "../http/server/RequestId.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { testActor } from "./TestActors.ts"

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Compares in constant time, so that the time of an answer tells nothing about the key. */
const sameKey = (sent: string, key: Redacted.Redacted<string>): boolean =>
  timingSafeEqual(digest(sent), digest(Redacted.value(key)))

/** The token of the header; the empty one, which is nobody's, for a scheme that the service does not know. */
const bearer = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^bearer /i.test(authorization) ? authorization.slice(7).trim() : ""

/**
 * Who a request acts as (contract, platform §2): an injected actor under test, the development key of the role admin
 * outside production, the key that reads metrics, else an anonymous shopper of the default organization. Credentials that are not valid are 401
 * and never fall back to anonymous. Sessions and stored keys join here.
 */
export const actorsLayer = Layer.effect(
  Actors,
  Effect.gen(function*() {
    const { developmentKey, environment, metricsKey } = yield* AppConfig
    const { defaultOrganizationId, roles } = yield* StoreSettings
    const anonymous: Caller = {
      ...anonymousActor(defaultOrganizationId, roles["customer"] ?? []),
      credential: "none"
    }
    const developer: Caller = {
      ...anonymous,
      type: "api_key",
      userId: null,
      name: "Development key",
      credential: "key",
      keyId: "development",
      role: "admin",
      permissions: roles["admin"] ?? []
    }
    const scraper: Caller = {
      ...developer,
      name: "Metrics key",
      keyId: "metrics",
      role: "metrics",
      permissions: ["metrics:read"]
    }

    const known = (key: string) =>
      Option.isSome(developmentKey) && sameKey(key, developmentKey.value)
        ? Effect.succeed(developer)
        : Option.isSome(metricsKey) && sameKey(key, metricsKey.value)
        ? Effect.succeed(scraper)
        : Effect.fail(Unauthorized.of("The credentials are not valid."))

    return Actors.of({
      fromHeaders: Effect.fnUntraced(function*(headers) {
        const sent = environment === "test" ? headers["x-test-actor"] : undefined
        const injected = sent === undefined ? undefined : Option.getOrUndefined(testActor(sent))
        const key = headers["x-api-key"] ?? bearer(headers["authorization"])
        const test: Caller | undefined = injected === undefined
          ? undefined
          : { ...anonymous, ...injected, credential: "test" }
        const caller = test ?? (key === undefined ? anonymous : yield* known(key))
        return { ...caller, cartSecret: headers["x-cart-secret"] ?? null, requestId: yield* RequestId }
      })
    })
  })
)
