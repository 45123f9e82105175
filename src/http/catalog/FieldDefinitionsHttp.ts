import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { FieldDefinitions } from "../../domain/catalog/fields/FieldDefinitions.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { FieldDefinitionsGroup } from "./FieldDefinitionsApi.ts"

/** Handlers of the routes that `FieldDefinitionsApi.ts` declares. */
export const fieldDefinitionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FieldDefinitionsGroup),
  "fieldDefinitions",
  Effect.fnUntraced(function*(handlers) {
    const fields = yield* FieldDefinitions
    return handlers.handleAll({
      list: ({ query }) => fields.list(query.entityType, query.includeArchived === "true", pageOf(query)),
      create: ({ payload }) => fields.create(payload),
      read: ({ params }) => fields.get(params.id),
      update: ({ params, payload }) => fields.update(params.id, payload),
      archive: ({ params }) => fields.archive(params.id),
      restore: ({ params }) => fields.restore(params.id)
    })
  })
)
