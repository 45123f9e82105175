import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"

/** What the document says of an endpoint, and the permissions any of which it needs: `endpoint.annotateMerge(…)`. */
export const described = (summary: string, ...permissions: Parameters<typeof anyOf>) =>
  Context.add(OpenApi.annotations({ summary }), Access, anyOf(...permissions))
