import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { PermissionCatalogue } from "../../domain/access/PermissionCatalogue.ts"
import { PermissionsGroup } from "./PermissionsApi.ts"

/** Handlers of the routes that `PermissionsApi.ts` declares. */
export const permissionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(PermissionsGroup),
  "permissions",
  Effect.fnUntraced(function*(handlers) {
    const catalogue = yield* PermissionCatalogue
    return handlers.handleAll({ list: () => Effect.succeed(catalogue) })
  })
)
