import { Layer } from "effect"
import { authPurgeRepoLayer } from "../../domain/auth/AuthPurgeRepo.ts"
import { migrations } from "../../domain/auth/migrations.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { AuthGateway } from "../../http/auth/AuthGateway.ts"
import { authHttp } from "../../http/auth/AuthHttp.ts"
import { authGatewayLayer } from "../auth/Auth.ts"
import { AuthSecret } from "../auth/AuthSecret.ts"
import { guestClaimsLayer } from "../auth/GuestClaims.ts"
import { seeing } from "../Sight.ts"

/** Users, sessions, memberships and API keys. Sends mails, so its routes stand behind the services of all modules. */
export const auth = defineModule({
  id: "auth",
  version: "1.0.0",
  requires: ["tenancy"],
  permissions: [{ scope: "api-keys:manage", description: "Make and revoke API keys" }],
  migrations,
  services: Layer.mergeAll(AuthSecret.layer, authPurgeRepoLayer),
  routes: authHttp.pipe(seeing(AuthGateway), Layer.provide(Layer.provide(authGatewayLayer, guestClaimsLayer)))
})
