import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { Access, type AccessRule } from "../../domain/access/AccessRule.ts"
import { Api } from "../Api.ts"
import { toOpenApi30 } from "../openapi/OpenApi30.ts"
import { securitySchemes } from "../openapi/SecuritySchemes.ts"

interface DocumentedEndpoint {
  readonly method: string
  readonly path: string
  readonly name: string
  readonly rule: AccessRule | undefined
}

/** Every endpoint of an API with the rule that guards it. */
export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<DocumentedEndpoint> => {
  const found: Array<DocumentedEndpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      found.push({
        method: endpoint.method,
        path: endpoint.path,
        name: `${group.identifier}.${endpoint.identifier}`,
        rule: Context.getOrUndefined(endpoint.annotations, Access)
      })
    }
  })
  return found
}

/** Every endpoint of the service. */
export const endpoints = (): ReadonlyArray<DocumentedEndpoint> => endpointsOf(Api)

const openPaths = () =>
  new Set(
    endpoints().filter(({ rule }) => rule?._tag === "Open").map(({ method, path }) =>
      `${method} ${path.replace(/:([^/]+)/g, "{$1}")}`
    )
  )

/** The OpenAPI 3.0 document of all groups (spec §1). */
export const openApiDocument = () => {
  const open = openPaths()
  return toOpenApi30(OpenApi.fromApi(Api), {
    securitySchemes: securitySchemes("uc.session_token"),
    isPublic: ({ method, path }) => open.has(`${method.toUpperCase()} ${path}`)
  })
}

/** The document and the explorer; the explorer's script is part of its page, so no outside host is asked. */
export const docsRoutes = Layer.mergeAll(
  HttpRouter.add(
    "GET",
    "/api/doc",
    Effect.map(Effect.sync(openApiDocument), (document) => HttpServerResponse.jsonUnsafe(document))
  ),
  HttpApiScalar.layer(Api, { path: "/api/reference", scalar: { withDefaultFonts: false } })
)
