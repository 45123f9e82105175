import { Effect, Layer } from "effect"
import { AuthRepo } from "../../domain/auth/AuthRepo.ts"
import { migrations } from "../../domain/auth/migrations.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { authHttp } from "../../http/auth/AuthHttp.ts"
import { AuthSecret } from "../auth/AuthSecret.ts"
import { guestClaimsLayer } from "../auth/Verification.ts"
import { tenancy } from "./tenancy.ts"

const gateway = Layer.unwrap(
  Effect.map(Effect.promise(() => import("../auth/Auth.ts")), ({ authGatewayLayer }) => authGatewayLayer)
)

/** Users, sessions, memberships and API keys. It sends mails, so its routes need the services of all modules. */
export const auth = defineModule({
  id: "auth",
  requires: [tenancy],
  permissions: [{ scope: "api-keys:manage", description: "Make and revoke API keys" }],
  migrations,
  services: Layer.mergeAll(AuthSecret.layer, AuthRepo.layer),
  routes: authHttp.pipe(
    Layer.provide(Layer.provide(gateway, guestClaimsLayer))
  )
})
