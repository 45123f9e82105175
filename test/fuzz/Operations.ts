import { isObject, type Json, type JsonObject, list } from "../../src/http/openapi/Json.ts"

/** A parameter of an operation with its schema. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Json
}

/** An operation of an OpenAPI document. */
export interface Operation {
  /** `POST /api/carts/{id}/items` */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  /** The schema of its JSON body. */
  readonly body: Json | undefined
  /** Media types of its body beside JSON. */
  readonly otherBodies: ReadonlyArray<string>
  /** Declared statuses, each with its media types. */
  readonly responses: ReadonlyMap<number, ReadonlyArray<string>>
}

export const member = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((one, key) => isObject(one) ? one[key] : undefined, value)

const entriesOf = (value: Json | undefined): ReadonlyArray<[string, Json]> =>
  isObject(value) ? Object.entries(value) : []

const parameterOf = (value: Json): Parameter => ({
  name: String(member(value, "name")),
  in: String(member(value, "in")),
  required: member(value, "required") === true,
  schema: member(value, "schema") ?? {}
})

const operationOf = (path: string, method: string, value: Json): Operation => ({
  name: `${method.toUpperCase()} ${path}`,
  method: method.toUpperCase(),
  path,
  parameters: list(member(value, "parameters")).map(parameterOf),
  body: member(value, "requestBody", "content", "application/json", "schema"),
  otherBodies: entriesOf(member(value, "requestBody", "content")).map(([type]) => type)
    .filter((type) => type !== "application/json"),
  responses: new Map(
    entriesOf(member(value, "responses")).map(([status, response]) => [
      Number(status),
      entriesOf(member(response, "content")).map(([type]) => type)
    ])
  )
})

/** All operations of a document, in its order. */
export const operationsOf = (document: JsonObject): ReadonlyArray<Operation> =>
  entriesOf(document["paths"]).flatMap(([path, item]) =>
    entriesOf(item).filter(([method]) => method !== "parameters").map(([method, value]) =>
      operationOf(path, method, value)
    )
  )
