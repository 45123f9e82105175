import { Layer } from "effect"
import { migrations } from "../../domain/auth/migrations.ts"
import { defineModule } from "../../domain/modules/Module.ts"

/** Users, sessions, memberships and API keys. */
export const auth = defineModule({
  id: "auth",
  version: "1.0.0",
  requires: ["tenancy"],
  permissions: [],
  migrations,
  services: Layer.empty,
  routes: Layer.empty
})
