import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { PermissionCatalogue } from "../../domain/platform/access/Permission.ts"
import { ApiKeys } from "../../domain/platform/credentials/ApiKeys.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { OrganizationKeysGroup, PermissionsGroup } from "./AccessApi.ts"

export const organizationKeysHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrganizationKeysGroup),
  "organizationKeys",
  Effect.fnUntraced(function*(handlers) {
    const keys = yield* ApiKeys
    return handlers.handleAll({
      createKey: ({ payload }) => Effect.map(keys.create(payload), ({ apiKey, key }) => ({ ...apiKey, key })),
      listKeys: ({ query }) => keys.list(pageOf(query)),
      revokeKey: ({ params }) => Effect.as(keys.revoke(params.id), deleted)
    })
  })
)

export const permissionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(PermissionsGroup),
  "permissions",
  Effect.fnUntraced(function*(handlers) {
    const catalogue = yield* PermissionCatalogue
    return handlers.handleAll({ list: () => Effect.succeed(catalogue) })
  })
)
