import { Context, Data, Effect, Layer } from "effect"
import type { Headers } from "effect/http"
import { OrgResolutionFailed } from "../../domain/errors/ApiErrors.ts"
import { Organizations } from "../../domain/tenancy/Organizations.ts"
import type { Asked } from "../../http/access/Actors.ts"
import { AppConfig } from "../config/AppConfig.ts"

/** What the deployment's own function threw, or that it did not come to an end. */
class ResolverFailed extends Data.TaggedError("ResolverFailed")<{ readonly cause: unknown }> {}

/** A resolver is asked within a request: one that is silent must not hold it up for ever. */
const timeout = "5 seconds"

/** The request without its body, as `auth.storeResolver` is shown it. The host is the one that the client named. */
const shown = (headers: Headers.Headers, { method, url }: Asked): Request => {
  const host = /^[\w.:[\]-]+$/.test(headers["host"] ?? "") ? headers["host"] : "localhost"
  const base = `http://${host}`
  return new Request(URL.canParse(url, base) ? new URL(url, base) : base, { method, headers: { ...headers } })
}

/**
 * Which organization a caller without one of his own is in (contract, platform §6): what `auth.storeResolver` says if it
 * exists, else the default one, or with `auth.strictOrgResolution` nobody's (503).
 */
export class StoreResolution extends Context.Service<StoreResolution, {
  readonly organizationOf: (
    headers: Headers.Headers,
    asked: Asked | undefined
  ) => Effect.Effect<string, OrgResolutionFailed>
}>()("stoa/layers/access/StoreResolution") {
  static readonly layer = Layer.effect(
    StoreResolution,
    Effect.gen(function*() {
      const { exists } = yield* Organizations
      const { access } = yield* AppConfig
      const { defaultOrganizationId, storeResolver, strictOrgResolution } = access
      const byDefault = Effect.succeed(defaultOrganizationId)
      if (storeResolver === undefined) return { organizationOf: () => byDefault }

      const unresolved = strictOrgResolution ? Effect.fail(OrgResolutionFailed.of()) : byDefault

      const resolve = (headers: Headers.Headers, asked: Asked) =>
        Effect.tryPromise({
          try: async () => storeResolver(shown(headers, asked)),
          catch: (cause) => new ResolverFailed({ cause })
        }).pipe(Effect.timeout(timeout))

      const found = Effect.fnUntraced(function*(headers: Headers.Headers, asked: Asked) {
        const id = yield* resolve(headers, asked)
        return typeof id === "string" && (yield* exists(id)) ? id : yield* unresolved
      })

      return {
        organizationOf: (headers: Headers.Headers, asked: Asked | undefined) =>
          asked?.storeless === true
            ? byDefault
            : Effect.catchTags(found(headers, asked ?? { method: "POST", url: "/rpc" }), {
              ResolverFailed: ({ cause }) =>
                Effect.andThen(Effect.logWarning("auth.storeResolver failed", cause), unresolved),
              TimeoutError: () => Effect.andThen(Effect.logWarning("auth.storeResolver did not answer"), unresolved)
            })
      }
    })
  )
}
