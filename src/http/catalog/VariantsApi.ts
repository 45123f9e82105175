import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { NewOptionType, NewOptionValue, OptionType, OptionValue } from "../../domain/catalog/variants/Option.ts"
import { Generate, NewVariant, Variant } from "../../domain/catalog/variants/Variant.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Data, OptionalBody } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const entity = { id: Uuid }

/** Options of entities and the variants made of them (spec §4, contract §1.2). */
export const VariantsGroup = HttpApiGroup.make("variants").add(
  HttpApiEndpoint.post("createOptionType", "/api/catalog/entities/:id/options", {
    params: entity,
    payload: NewOptionType,
    success: Data(OptionType).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Give an entity an option type, with values when given" })),
  HttpApiEndpoint.post("createOptionValue", "/api/catalog/options/:optionTypeId/values", {
    params: { optionTypeId: Uuid },
    payload: NewOptionValue,
    success: Data(OptionValue).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Give an option type a value" })),
  HttpApiEndpoint.post("create", "/api/catalog/entities/:id/variants", {
    params: entity,
    payload: NewVariant,
    success: Data(Variant).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Create one variant" })),
  // No body at all means mode `all`, so null is accepted.
  HttpApiEndpoint.post("generate", "/api/catalog/entities/:id/variants/generate", {
    params: entity,
    payload: OptionalBody(Generate),
    success: Data(Schema.Array(Variant)).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(
      OpenApi.annotations({ summary: "Create the missing variants of all, given or selected combinations" })
    )
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
