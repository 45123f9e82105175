import { Context, Effect, Layer, Option, Redacted } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { keptSecret } from "../KeptSecrets.ts"

/** Signs session cookies and links, encrypts second factors and authenticates processes. */
export class AuthSecret
  extends Context.Service<AuthSecret, Redacted.Redacted<string>>()("stoa/layers/auth/AuthSecret")
{
  static readonly layer = Layer.effect(
    AuthSecret,
    Effect.flatMap(AppConfig, ({ auth, dataDir }) =>
      Option.match(auth.secret, {
        onSome: Effect.succeed,
        onNone: () =>
          Effect.map(keptSecret(dataDir, "auth-secret", "STOA_AUTH_SECRET"), (secret) => Redacted.make(secret))
      }))
  )
}
