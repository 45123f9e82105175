import { Cause, Context, Effect, Exit, Schema } from "effect"
import { HttpApi, type HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"
import { ExamplesFile } from "../../src/http/openapi/Recorded.ts"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { everyPlugin } from "./EveryPlugin.ts"
import { entriesOf, operationsIn, settings, whole31 } from "./WholeDocument.ts"

export const member = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((one, key) => isObject(one) ? one[key] : undefined, value)

/** The shared schemas of the document. */
export const schemas = Object.fromEntries(entriesOf(member(whole31, "components", "schemas")))

/** A body in JSON of the document. */
export interface Body {
  /** `POST /api/carts/{id}/items` */
  readonly operation: string
  /** `request`, or the status of an answer. */
  readonly part: string
  readonly media: JsonObject
}

/** The bodies in JSON of all requests and of all successful answers. */
export const bodies: ReadonlyArray<Body> = operationsIn(whole31).flatMap(({ name, operation }) => {
  const answers = entriesOf(operation["responses"]).filter(([status]) => Number(status) < 300)
  return [["request", operation["requestBody"]] as const, ...answers].flatMap(([part, holder]) => {
    const media = member(holder, "content", "application/json")
    return isObject(media) ? [{ operation: name, part, media }] : []
  })
})

export const exampleOf = ({ media }: Body): Json | undefined => {
  const $ref = member(media, "examples", "typical", "$ref")
  return typeof $ref === "string"
    ? member(whole31, "components", "examples", $ref.replace("#/components/examples/", ""), "value")
    : media["example"]
}

type Decoder = (body: unknown) => Effect.Effect<unknown, Schema.SchemaError>

/** What the service does not know is refused too. */
const decoderOf = (schema: Schema.Top): Decoder => {
  const body = HttpApiSchema.isWithHeaders(schema) ? schema.schema : schema
  return Schema.decodeUnknownEffect(body as Schema.Codec<unknown, unknown>, { onExcessProperty: "error" })
}

/** What the service knows of an operation. */
interface Served {
  /** By the parts of `Body`. */
  readonly decoders: ReadonlyMap<string, ReadonlyArray<Decoder>>
  /** Its recorded examples. */
  readonly file: URL
}

const servedBy = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  const found = new Map<string, Served>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, mergedAnnotations, successes }) => {
      const requests = endpoint.payload.get("application/json")?.schemas ?? []
      const decoders = new Map([...successes].map(([status, all]) => [String(status), all.map(decoderOf)]))
      const name = `${endpoint.method} ${endpoint.path.replace(/:([^/]+)/g, "{$1}")}`
      found.set(name, {
        decoders: decoders.set("request", requests.map(decoderOf)),
        file: Context.get(mergedAnnotations, ExamplesFile)
      })
    }
  })
  return found
}

/** All operations by their names. */
export const served: ReadonlyMap<string, Served> = (() => {
  let found: ReadonlyMap<string, Served> = new Map()
  documentWith(settings, everyPlugin, "1.0.0", (api) => {
    found = servedBy(api)
    return {}
  })
  return found
})()

/** Why a body is none of its operation, or has fields that it does not know; undefined: it fits. */
export const refusalOf = async (operation: string, part: string, body: Json): Promise<string | undefined> => {
  const decoders = served.get(operation)?.decoders.get(part) ?? []
  let refusal = "no such body"
  for (const decode of decoders) {
    const exit = await Effect.runPromiseExit(decode(body))
    if (Exit.isSuccess(exit)) return undefined
    refusal = Cause.pretty(exit.cause)
  }
  return refusal
}
