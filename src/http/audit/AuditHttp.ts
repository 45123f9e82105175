import { Effect, Struct } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Audit, type AuditFilter } from "../../domain/audit/Audit.ts"
import { pageOf, pageQuery } from "../../domain/platform/paging/Paging.ts"
import { requireWindow } from "../../domain/platform/text/Time.ts"
import { AuditGroup } from "./AuditApi.ts"

/** Spec §8. */
const usualSize = 50

export const auditHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AuditGroup),
  "audit",
  Effect.fnUntraced(function*(handlers) {
    const audit = yield* Audit
    const listed = (filter: AuditFilter, page: Parameters<typeof pageOf>[0]) =>
      Effect.andThen(requireWindow(filter, "from", "to"), audit.list(filter, pageOf(page, usualSize)))
    return handlers.handleAll({
      list: ({ query }) => listed(Struct.omit(query, Struct.keys(pageQuery)), query),
      history: ({ params, query: { from, to, ...query } }) => listed({ ...params, from, to }, query)
    })
  })
)
