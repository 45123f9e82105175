import type { JsonObject } from "./Json.ts"

/**
 * The three credentials a caller may send (spec §5): an API key in `x-api-key`, a session token as bearer, or the
 * session cookie of that name.
 */
export const securitySchemes = (cookie: string): JsonObject => ({
  apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "API key of an integration." },
  bearer: { type: "http", scheme: "bearer", description: "Session token, as a bearer." },
  cookie: { type: "apiKey", in: "cookie", name: cookie, description: "Session cookie, set by signing in." }
})
