import { Context, Data, Effect, Layer } from "effect"
import { Headers } from "effect/http"
import { OrgResolutionFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { OrganizationRepo } from "../../domain/platform/tenancy/OrganizationRepo.ts"
import type { Asked } from "../../http/access/Actors.ts"
import { AppConfig } from "../config/AppConfig.ts"

class ResolverFailed extends Data.TaggedError("ResolverFailed")<{ readonly cause: unknown }> {}

const timeout = "5 seconds"

const shown = (headers: Headers.Headers, { method, url }: Asked): Request => {
  const host = /^[\w.:[\]-]+$/.test(headers["host"] ?? "") ? headers["host"] : "localhost"
  const base = `http://${host}`
  return new Request(URL.canParse(url, base) ? new URL(url, base) : base, { method, headers: { ...headers } })
}

/**
 * Resolves a caller's organization (contract, platform §6): that of `auth.storeResolver`, else the default one, or 503
 * with `auth.strictOrgResolution`.
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
      const { exists } = yield* OrganizationRepo
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

export const RequestOrganization = Context.Reference<string | undefined>("stoa/layers/access/RequestOrganization", {
  defaultValue: () => undefined
})

/** In links of mails: a mail program sends no headers of a shop. */
const parameter = "organizationId"

export const linkIn = (url: string, organizationId: string, byDefault: string): string => {
  if (organizationId === byDefault) return url
  const link = new URL(url)
  link.searchParams.set(parameter, organizationId)
  return link.href
}

const concernsStore = (method: string, path: string): boolean =>
  method !== "GET" || path.endsWith("/verify-email") || path.includes("/callback/")

export class RequestStore extends Context.Service<RequestStore>()("stoa/layers/access/RequestStore", {
  make: Effect.gen(function*() {
    const { organizationOf } = yield* StoreResolution
    const { exists } = yield* OrganizationRepo
    const { defaultOrganizationId } = yield* StoreSettings
    return {
      /**
       * That of the link, else of `auth.storeResolver`, else the default one, also in strict deployments (contract,
       * platform §6). Naming one grants nothing but the user's guest orders there.
       */
      organizationOf: Effect.fnUntraced(function*(request: Request) {
        const url = new URL(request.url)
        if (!concernsStore(request.method, url.pathname)) return defaultOrganizationId
        const named = url.searchParams.get(parameter)
        if (named !== null && (yield* exists(named))) return named
        const asked = { method: request.method, url: `${url.pathname}${url.search}` }
        return yield* Effect.catchTag(
          organizationOf(Headers.fromInput(request.headers), asked),
          "OrgResolutionFailed",
          () => Effect.succeed(defaultOrganizationId)
        )
      })
    }
  })
}) {
  static readonly layer = Layer.effect(RequestStore, RequestStore.make).pipe(Layer.provide(StoreResolution.layer))
}
