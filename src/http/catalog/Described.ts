import { Context, type Schema } from "effect"
import { type HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

/** What the document says of an endpoint, and the permissions any of which it needs: `endpoint.annotateMerge(…)`. */
export const described = (summary: string, ...permissions: Parameters<typeof anyOf>) =>
  Context.add(OpenApi.annotations({ summary }), Access, anyOf(...permissions))

/** The answer to what makes a record: 201. */
export const Created = <T, E>(record: Schema.Codec<T, E>) => Data(record).pipe(HttpApiSchema.status(201))

/** A group of endpoints with access rules, idempotency keys and all issues of a refused request. */
export const guarded = <
  const Id extends string,
  const Endpoints extends readonly [HttpApiEndpoint.Constraint, ...ReadonlyArray<HttpApiEndpoint.Constraint>]
>(id: Id, ...endpoints: Endpoints) =>
  HttpApiGroup.make(id).add(...endpoints)
    .annotate(ParseOptions, allIssues).middleware(Errors).middleware(Idempotency).middleware(AccessControl)
