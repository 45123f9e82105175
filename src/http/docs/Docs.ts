import { Context, Effect, Layer, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { Access, type AccessRule } from "../../domain/platform/access/AccessRule.ts"
import { ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { hintKey, typeKey } from "../../domain/platform/hints/Hints.ts"
import { issue } from "../../domain/platform/text/Fields.ts"
import { Api } from "../Api.ts"
import { OpensWithCartSecret } from "../middleware/Access.ts"
import { Idempotency, NeverRepeated } from "../middleware/Idempotency.ts"
import type { JsonObject } from "../openapi/Json.ts"
import { toOpenApi30 } from "../openapi/OpenApi30.ts"
import { type Operation, type Options, toOpenApi31 } from "../openapi/OpenApi31.ts"
import { recordedOf } from "../openapi/Recorded.ts"
import { OwnRefusals } from "../server/Refusals.ts"
import { NamedByAddress, operationNames } from "./OperationNames.ts"
import { staticDocument } from "./StaticDocument.ts"

/** The header of `OpensWithCartSecret`, as a parameter of the document. */
const cartSecretParameter: JsonObject = {
  name: "x-cart-secret",
  in: "header",
  required: false,
  description: "The secret that the answer to the cart's creation showed. A guest needs it; others need credentials.",
  schema: { type: "string" }
}

/** The header that makes a repeat of an unsafe request safe (ARCHITECTURE invariant 4). */
const idempotencyKeyParameter: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key with the same request gives the same answer, and the work is done once.",
  schema: { type: "string", minLength: 8, maxLength: 255, pattern: "^[\\x21-\\x7e]{8,255}$" }
}

/** How unknown fields are dealt with; every operation reads and answers these. */
const shared = {
  parameters: {
    Prefer: {
      name: "Prefer",
      in: "header",
      required: false,
      description:
        "`handling=strict` (RFC 7240) refuses a request with an unknown field or parameter: 422 `unknown_key`.",
      schema: { type: "string", example: "handling=strict" }
    }
  },
  headers: {
    "X-Ignored-Fields": {
      description:
        "Unknown fields, parameters (`query.…`) and names (`include.…`) that the request had, with percent " +
        "signs for characters beyond ASCII. Absent without any. A last entry `+5` counts those that are left out.",
      schema: { type: "string", example: "conditions.minimumOrderVale, query.pgae, include.foo" }
    },
    "Preference-Applied": {
      description: "The preference that was honoured.",
      schema: { type: "string", example: "handling=strict" }
    }
  }
} satisfies Options["shared"]

/**
 * The three credentials a caller may send (spec §5): an API key in `x-api-key`, a session token as bearer, or the
 * session cookie of that name.
 */
export const securitySchemes = (cookie: string): JsonObject => ({
  apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "API key of an integration." },
  bearer: { type: "http", scheme: "bearer", description: "Session token, as a bearer." },
  cookie: { type: "apiKey", in: "cookie", name: cookie, description: "Session cookie, set by signing in." }
})

interface DocumentedEndpoint {
  readonly method: string
  readonly path: string
  readonly name: string
  readonly rule: AccessRule | undefined
  /** Its operation is named by its address, as that of a list or of something else. */
  readonly byAddress: { readonly isList: boolean } | undefined
  /** Takes an `Idempotency-Key`. */
  readonly idempotent: boolean
  /** Its refusals have another shape than the envelope. */
  readonly ownRefusals: boolean
  /** A guest's cart secret opens it. */
  readonly opensWithCartSecret: boolean
}

/** Every endpoint of an API with the rule that guards it. */
export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<DocumentedEndpoint> => {
  const found: Array<DocumentedEndpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, middleware }) => {
      found.push({
        method: endpoint.method,
        path: endpoint.path,
        name: `${group.identifier}.${endpoint.identifier}`,
        rule: Context.getOrUndefined(endpoint.annotations, Access),
        byAddress: Context.getOrUndefined(endpoint.annotations, NamedByAddress),
        idempotent: endpoint.method !== "GET" && [...middleware].some(({ key }) => key === Idempotency.key) &&
          Context.getOrUndefined(endpoint.annotations, NeverRepeated) !== true,
        ownRefusals: Context.getOrUndefined(endpoint.annotations, OwnRefusals) === true,
        opensWithCartSecret: Context.getOrUndefined(endpoint.annotations, OpensWithCartSecret) === true
      })
    }
  })
  return found
}

/**
 * `x-permission` of an operation: a permission, several of which any (` | `) or all (` & `) are needed, `signed-in` for every
 * caller with credentials, `public` for everybody.
 */
const permissionOf = (rule: AccessRule | undefined): string | undefined => {
  switch (rule?._tag) {
    case "Open":
      return "public"
    case "AnyOf":
      return rule.permissions.join(" | ")
    case "AllOf":
      return rule.permissions.join(" & ")
    case "SignedIn":
      return rule.permissions.join(" & ") || "signed-in"
    case "Judged":
      return rule.missing === "*:*" ? "signed-in" : rule.missing
    case undefined:
      return undefined
  }
}

let ofTheCore: ReadonlyArray<DocumentedEndpoint> | undefined

/** Every endpoint of the core, looked up once in a process: a start asks several times, and the shapes do not change. */
export const endpoints = (): ReadonlyArray<DocumentedEndpoint> => ofTheCore ??= endpointsOf(Api)

/** What the document says beside the shapes: who may ask, and with which headers. */
export const documentOptions = (all = endpoints()): Options => {
  const known = new Map(
    all.map((endpoint) => [`${endpoint.method} ${endpoint.path.replace(/:([^/]+)/g, "{$1}")}`, endpoint])
  )
  const found = ({ method, path }: Operation) => known.get(`${method} ${path}`)
  const names = operationNames(
    all.flatMap(({ byAddress, method, path }) => byAddress === undefined ? [] : [{ method, path, ...byAddress }])
  )
  return {
    shared,
    idOf: (operation) => names.get(`${operation.method} ${found(operation)?.path}`),
    permissionOf: (operation) => permissionOf(found(operation)?.rule),
    securitySchemes: securitySchemes("uc.session_token"),
    hasOwnRefusals: (operation) => found(operation)?.ownRefusals === true,
    isPublic: (operation) => found(operation)?.rule?._tag === "Open",
    headersOf: (operation) => [
      ...(found(operation)?.opensWithCartSecret ? [cartSecretParameter] : []),
      ...(found(operation)?.idempotent ? [idempotencyKeyParameter] : [])
    ]
  }
}

/** Annotations of schemas that the document takes over. */
export const sourceOptions = { includeAnnotationKey: (key: string) => [hintKey, typeKey].includes(key) }

/** The OpenAPI 3.1 document of all groups of an API, for this version of the service. */
export const document31Of = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  version: string
) =>
  toOpenApi31(
    OpenApi.fromApi(api.annotate(OpenApi.Version, version), sourceOptions),
    { ...documentOptions(endpointsOf(api)), recorded: recordedOf(api) }
  )

/** The same in OpenAPI 3.0 (spec §1, §9). */
export const documentOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  version: string
) => toOpenApi30(document31Of(api, version))

/** What `docsRoutes` and `rootPage` answer. */
export const docsEndpoints = ["/api/doc", "/api/reference", "/"].map((path) => ({ method: "GET", path }))

const { error } = ValidationFailed.issues([issue("query.version", "query.version must be 3.0 or 3.1.")])
const unknownVersion = HttpServerResponse.jsonUnsafe({ error }, { status: 422 })

/**
 * The document, in OpenAPI 3.0 or with `?version=3.1` in 3.1, and the explorer over it; the explorer's script is part of its page, so no outside host is asked. Both
 * are made at the first request: the script alone takes more memory than any module of the service.
 */
export const docsRoutes = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  version: string
) => {
  const document = HttpRouter.use(Effect.fnUntraced(function*(router) {
    const made = (of: typeof documentOf) => Effect.cached(Effect.suspend(() => staticDocument(of(api, version))))
    const [in30, in31] = [yield* made(documentOf), yield* made(document31Of)]
    const answers = new Map([["3.0", in30], ["3.0.3", in30], ["3.1", in31], ["3.1.0", in31]])
    const answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const found = answers.get(new URL(request.url, "http://any").searchParams.get("version") ?? "3.0")
      return found === undefined ? Effect.succeed(unknownVersion) : Effect.map(found, (answerTo) => answerTo(request))
    })
    yield* router.add("GET", "/api/doc", answer)
  }))
  const documented = api.annotate(OpenApi.Transform, () => documentOf(api, version))
  const scalar = { withDefaultFonts: false, authentication: { preferredSecurityScheme: "apiKey" } }
  const path = "/api/reference"
  const explorer = HttpRouter.use(Effect.fnUntraced(function*(router) {
    const made = HttpRouter.toHttpEffect(HttpApiScalar.layer(documented, { path, scalar }))
    const answer = yield* Effect.cached(Effect.provideService(made, Scope.Scope, yield* Effect.scope))
    yield* router.add("GET", path, Effect.flatten(answer))
  }))
  return Layer.merge(document, explorer)
}

const links = [
  ["/api/reference", "API explorer", "every route, to read and to try"],
  ["/api/doc", "OpenAPI document", "the same for programs"],
  ["/api/health", "Health", "whether the service can work"]
] as const

const page = (version: string): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Stoa</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:38rem;margin:4rem auto;padding:0 1rem}</style>
<h1>Stoa</h1>
<p>A headless commerce backend, version ${version}. It has an API and no shop window: this is its front page.</p>
<ul>
${links.map(([path, name, what]) => `<li><a href="${path}">${name}</a>: ${what}</li>`).join("\n")}
</ul>
<p>Its documentation is in its repository: <code>README.md</code> to begin with, then <code>docs/</code>.</p>
</html>
`

/** Whether the client is a browser; a program that accepts anything is not. */
const isBrowser = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["accept"]?.includes("text/html") === true

/** What the service is, with links to its explorer and documentation, at its address. */
export const rootPage = (version: string) => {
  const data = {
    name: "Stoa",
    version,
    reference: "/api/reference",
    openapi: "/api/doc",
    health: "/api/health",
    documentation: "README.md and docs/ beside the source"
  }
  // One address with two answers: no cache may keep either for the other.
  const headers = { "cache-control": "no-store" }
  const html = HttpServerResponse.text(page(version), { contentType: "text/html; charset=utf-8", headers })
  const json = HttpServerResponse.jsonUnsafe({ data }, { headers })
  return HttpRouter.add(
    "GET",
    "/",
    Effect.map(HttpServerRequest.HttpServerRequest, (request) => isBrowser(request) ? html : json)
  )
}
