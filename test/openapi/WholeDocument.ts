import { document31Of } from "../../src/http/docs/Docs.ts"
import { isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { everyPlugin } from "./EveryPlugin.ts"

export const settings = testSettings("postgres://nowhere/none", { plugins: everyPlugin })

/** The documents of a deployment with every plugin of the repository. */
export const whole30 = documentWith(settings, everyPlugin, "1.0.0")
export const whole31 = documentWith(settings, everyPlugin, "1.0.0", document31Of)

export interface DocumentedOperation {
  /** `GET /api/carts/{id}` */
  readonly name: string
  readonly operation: JsonObject
}

export const operationsIn = (document: JsonObject): ReadonlyArray<DocumentedOperation> =>
  entriesOf(document["paths"]).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) =>
      isObject(operation) ? [{ name: `${method.toUpperCase()} ${path}`, operation }] : []
    )
  )

export const entriesOf = (value: Json | undefined): ReadonlyArray<[string, Json]> =>
  isObject(value) ? Object.entries(value) : []
