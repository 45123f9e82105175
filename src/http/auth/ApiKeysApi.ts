import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import { AnyJson, ShopperObject, ShortText } from "../../domain/text/Storable.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { AuthCaller } from "./AuthCaller.ts"
import { authFailures as error } from "./AuthFailures.ts"
import { AuthApiKey, Succeeded } from "./AuthRecords.ts"

const optionalText = Schema.optional(ShortText)

/** What keys can be put in order by; better-auth fails at a field that it does not know. */
const sortBy = Schema.optional(
  Schema.Literals(["name", "createdAt", "updatedAt", "expiresAt", "lastRequest", "enabled"])
)
const sortDirection = Schema.optional(Schema.Literals(["asc", "desc"]))

const WithKey = Schema.Struct({ ...AuthApiKey.fields, key: Schema.String }).annotate({
  identifier: "AuthApiKeyWithKey"
})

const unchosen = Schema.optional(
  AnyJson.annotate({ description: "Not its user's to choose: 400 `SERVER_ONLY_PROPERTY`." })
)

/** What better-auth refuses by name when a page asks for it: dropped, it would make another key than was asked for. */
const serverOnly = {
  permissions: unchosen,
  remaining: unchosen,
  refillAmount: unchosen,
  refillInterval: unchosen,
  rateLimitEnabled: unchosen,
  rateLimitMax: unchosen,
  rateLimitTimeWindow: unchosen,
  userId: unchosen
}

/** API keys of the signed-in user, for who may manage them (`api-keys:manage`; contract, platform §4). */
export const ApiKeysGroup = HttpApiGroup.make("authApiKeys").add(
  HttpApiEndpoint.post("create", "/api/auth/api-key/create", {
    payload: Schema.Struct({
      name: optionalText,
      prefix: optionalText,
      expiresIn: Schema.optional(Schema.NullOr(Schema.Int)),
      configId: optionalText,
      metadata: Schema.optional(ShopperObject),
      ...serverOnly
    }),
    success: WithKey,
    error
  })
    .annotateMerge(OpenApi.annotations({
      summary: "Make an API key",
      description: "The answer shows the key; no other answer does. `expiresIn` is in seconds, from a day to a year. " +
        "`configId` names a scope of the deployment's; metadata only where it allows them."
    })),
  HttpApiEndpoint.get("list", "/api/auth/api-key/list", {
    query: { limit: optionalText, offset: optionalText, sortBy, sortDirection },
    success: Schema.Struct({
      apiKeys: Schema.Array(AuthApiKey),
      total: Schema.Int,
      limit: Schema.optional(Schema.Int),
      offset: Schema.optional(Schema.Int)
    }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "List one's API keys" })),
  HttpApiEndpoint.get("get", "/api/auth/api-key/get", {
    query: { id: optionalText, configId: optionalText },
    success: AuthApiKey,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Read one of one's API keys" })),
  HttpApiEndpoint.post("update", "/api/auth/api-key/update", {
    payload: Schema.Struct({
      keyId: ShortText,
      configId: optionalText,
      name: optionalText,
      enabled: Schema.optional(Schema.Boolean),
      ...serverOnly
    }),
    success: AuthApiKey,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Rename an API key, or switch it on or off" })),
  HttpApiEndpoint.post("delete", "/api/auth/api-key/delete", {
    payload: Schema.Struct({ keyId: ShortText, configId: optionalText }),
    success: Succeeded,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Delete an API key; it is refused from now on" }))
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
