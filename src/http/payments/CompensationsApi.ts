import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { CompensationFailure, CompensationStatus, Resolution } from "../../domain/payments/CompensationFailure.ts"
import { Data, OptionalBody, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const one = { params: { id: Uuid }, success: Data(CompensationFailure) }

/** Steps about money that failed for good, for the operator (contract §3.8). */
export const CompensationsGroup = HttpApiGroup.make("compensations").add(
  HttpApiEndpoint.get("list", "/api/admin/compensation-failures", {
    query: { ...pageQuery, status: Schema.optional(CompensationStatus) },
    success: Page(CompensationFailure)
  })
    .annotate(Access, anyOf("compensation:admin"))
    .annotateMerge(OpenApi.annotations({ summary: "List money steps that failed for good, the last one first" })),
  HttpApiEndpoint.post("resolve", "/api/admin/compensation-failures/:id/resolve", {
    ...one,
    payload: OptionalBody(Resolution)
  })
    .annotate(Access, anyOf("compensation:admin"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Note that a failure was seen to elsewhere",
      description: "Moves no money. 409 when it is not open."
    })),
  HttpApiEndpoint.post("retry", "/api/admin/compensation-failures/:id/retry", one)
    .annotate(Access, anyOf("compensation:admin"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Ask the provider of a failed refund again",
      description: "409 when it is not open, is no refund, or was given back otherwise meanwhile."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
