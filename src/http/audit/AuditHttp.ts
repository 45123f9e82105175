import { Effect, Struct } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Audit } from "../../domain/audit/Audit.ts"
import { pageOf, pageQuery } from "../../domain/platform/paging/Paging.ts"
import { AuditGroup } from "./AuditApi.ts"

/** Spec §8. */
const usualSize = 50

export const auditHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AuditGroup),
  "audit",
  Effect.fnUntraced(function*(handlers) {
    const audit = yield* Audit
    return handlers.handleAll({
      list: ({ query }) => audit.list(Struct.omit(query, Struct.keys(pageQuery)), pageOf(query, usualSize)),
      history: ({ params, query }) =>
        audit.list({ ...params, from: query.from, to: query.to }, pageOf(query, usualSize))
    })
  })
)
