import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Audit } from "../../domain/audit/Audit.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { AuditGroup } from "./AuditApi.ts"

/** Rows of a page where none are named (spec §8). */
const usualSize = 50

/** Handlers of the routes that `AuditApi.ts` declares. */
export const auditHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AuditGroup),
  "audit",
  Effect.fnUntraced(function*(handlers) {
    const audit = yield* Audit
    return handlers.handleAll({
      list: ({ query: { limit, page, ...filter } }) => audit.list(filter, pageOf({ limit, page }, usualSize)),
      history: ({ params, query: { from, limit, page, to } }) =>
        audit.list({ ...params, from, to }, pageOf({ limit, page }, usualSize))
    })
  })
)
