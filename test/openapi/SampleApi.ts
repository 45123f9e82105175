import { Effect, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"

const Named = Schema.Struct({ name: Schema.String }).annotate({ identifier: "Named", description: "Has a name." })

interface Tree {
  readonly value: string
  readonly parent: Tree | null
  readonly children: ReadonlyArray<Tree>
}

const Tree = Schema.Struct({
  value: Schema.String,
  parent: Schema.NullOr(Schema.suspend((): Schema.Codec<Tree> => Tree)),
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
}).annotate({ identifier: "Tree" })

/** Every construct that Effect documents otherwise than OpenAPI 3.0 wants it, one field each. */
export const Everything = Schema.Struct({
  nullable: Schema.NullOr(Schema.String),
  nullableReference: Schema.NullOr(Named),
  describedReference: Schema.NullOr(Named).annotate({ description: "Perhaps one." }),
  nullableUnion: Schema.NullOr(Schema.Union([Schema.String, Named])),
  nullableLiteral: Schema.NullOr(Schema.Literals(["basic", "gold"])),
  optional: Schema.optional(Schema.NullOr(Schema.Finite)),
  optionalNull: Schema.optional(Schema.Undefined),
  onlyNull: Schema.Null,
  literal: Schema.Literal("one"),
  literals: Schema.Literals(["a", 1, "b"]),
  exampled: Schema.String.annotate({ examples: ["first", "second"] }),
  above: Schema.Finite.check(Schema.isGreaterThan(0)),
  between: Schema.Int.check(
    Schema.isBetween({ minimum: 1, maximum: 5, exclusiveMinimum: true, exclusiveMaximum: true })
  ),
  tuple: Schema.Tuple([Schema.String, Schema.Finite]),
  tupleWithRest: Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.Finite]),
  tupleWithOptional: Schema.Tuple([Schema.String, Schema.optionalKey(Schema.Finite)]),
  emptyTuple: Schema.Tuple([]),
  array: Schema.Array(Schema.NullOr(Schema.String)),
  record: Schema.Record(Schema.String, Schema.NullOr(Schema.Int)),
  patterns: Schema.Record(Schema.TemplateLiteral(["x-", Schema.String]), Schema.Int),
  embeddedJson: Schema.fromJsonString(Schema.Struct({ quantity: Schema.Int })),
  bytes: Schema.Uint8ArrayFromBase64,
  anything: Schema.Unknown,
  json: Schema.Json,
  never: Schema.optional(Schema.Never),
  numberWithInfinity: Schema.Number,
  defaulted: Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed("none")))
})

class Refused extends Schema.Error<Refused>("Refused")({ code: Schema.NullOr(Schema.String) }, {
  httpApiStatus: 409
}) {}

class Guard extends HttpApiMiddleware.Service<Guard>()("test/openapi/Guard", { error: Refused }) {}

const Things = HttpApiGroup.make("things").add(
  HttpApiEndpoint.get("get", "/api/things/:id", {
    params: { id: Schema.String },
    query: { limit: Schema.optional(Schema.FiniteFromString), state: Schema.Literals(["open", "closed"]) },
    headers: { "x-trace": Schema.optional(Schema.NullOr(Schema.String)) },
    success: Everything
  }),
  HttpApiEndpoint.post("create", "/api/things", {
    payload: Everything,
    success: Tree.pipe(HttpApiSchema.status(201))
  }),
  HttpApiEndpoint.delete("remove", "/api/things/:id", {
    params: { id: Schema.String },
    success: HttpApiSchema.NoContent
  })
).middleware(Guard)

const More = HttpApiGroup.make("more").add(HttpApiEndpoint.get("health", "/api/health", { success: Schema.String }))
  .annotateMerge(OpenApi.annotations({ title: "things", description: "Shares its tag." }))

/** A synthetic API that holds every construct. */
export const SampleApi = HttpApi.make("sample").add(Things).add(More).annotateMerge(
  OpenApi.annotations({ title: "Sample", version: "1.2.3", summary: "Only 3.1 knows it." })
)
