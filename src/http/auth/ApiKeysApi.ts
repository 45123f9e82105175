import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import { AnyJson, ShopperObject, ShortText } from "../../domain/text/Storable.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { AuthCaller } from "./AuthCaller.ts"
import { authFailures as error } from "./AuthFailures.ts"
import { AuthApiKey, Succeeded } from "./AuthRecords.ts"

const optionalText = Schema.optional(ShortText)

/** Sort fields; better-auth fails with an unknown one. */
const sortBy = Schema.optional(
  Schema.Literals(["name", "createdAt", "updatedAt", "expiresAt", "lastRequest", "enabled"])
)
const sortDirection = Schema.optional(Schema.Literals(["asc", "desc"]))

const WithKey = Schema.Struct({ ...AuthApiKey.fields, key: Schema.String }).annotate({
  identifier: "AuthApiKeyWithKey"
})

const unchosen = Schema.optional(
  AnyJson.annotate({ description: "Cannot be chosen by the user: 400 `SERVER_ONLY_PROPERTY`." })
)

/** Fields that better-auth refuses by name: without them it would create another key than requested. */
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

/** API keys of the signed-in user, with the permission `api-keys:manage` (contract, platform §4). */
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
      summary: "Create an API key",
      description: "The answer shows the key; no other answer does. `expiresIn` is in seconds, from a day to a year. " +
        "`configId` names a scope of the deployment; metadata only where it allows them."
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
    .annotateMerge(OpenApi.annotations({ summary: "List the user's API keys" })),
  HttpApiEndpoint.get("get", "/api/auth/api-key/get", {
    query: { id: optionalText, configId: optionalText },
    success: AuthApiKey,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Read an API key of the user" })),
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
    .annotateMerge(OpenApi.annotations({ summary: "Rename, enable or disable an API key" })),
  HttpApiEndpoint.post("delete", "/api/auth/api-key/delete", {
    payload: Schema.Struct({ keyId: ShortText, configId: optionalText }),
    success: Succeeded,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Delete an API key, which is invalid from then on" }))
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
